-- What many scripts need: the time, numbers, and a way to begin without memory. Under the prefix of a
-- bucket or a duty, `meta` has its counters and the last numbers that were given out.

local meta = prefix .. 'meta'

if now_ms == 0 then -- Redis' own clock, unless a test brings one
  local time = redis.call('TIME')
  now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
end

-- An integer as text. (Left to themselves, Lua and Redis make a detour over floating point.)
local function number_text(number)
  return string.format('%d', number)
end

-- A server without memory refuses a script whose first write could take some, and lets one go on
-- that has begun to write. What must go on begins with a write that changes nothing.
local function begin_writing()
  redis.call('HDEL', meta, '')
end

-- A number for a claim or a lease that none had before, not even in a state of the store that it
-- has lost since: it is no less than the clock.
local function next_number(name)
  local time = redis.call('TIME')
  local last = tonumber(redis.call('HGET', meta, name)) or 0
  return math.max(last + 1, time[1] * 1000000 + time[2])
end
