-- Who takes turns of hosts; the rules are those of frontier/turns.py. `visitors` has for each host
-- the number of its sharing, until when that lasts, and its visitors. A host that has an entry there
-- has the flag VISITED. `called` has the hosts whose owners may not know yet that they are shared.

local visitors = prefix .. 'visitors'
local called = prefix .. 'called'
local SHARING, SHARED_UNTIL, THOSE = 1, 2, 3
local VISITOR, HEARD_AT, KEPT_UNTIL, PLACES, HAS_UNUSED, KNOWS, WAITS_SINCE = 1, 2, 3, 4, 5, 6, 7

-- Those of a host, without those who are not heard of any more.
local function load_visitors(host)
  local packed = redis.call('HGET', visitors, host)
  local there = packed and cmsgpack.unpack(packed) or { 0, 0, {} }
  local left = {}
  for _, visitor in ipairs(there[THOSE]) do
    if visitor[KEPT_UNTIL] > now_ms then
      left[#left + 1] = visitor
    end
  end
  there[THOSE] = left
  if #left == 0 and there[SHARED_UNTIL] <= now_ms then
    there[SHARING] = 0
  end
  return there
end

local function save_visitors(host, record, there)
  local is_over = #there[THOSE] == 0 and there[SHARING] == 0
  set_flag(record, VISITED, not is_over)
  if is_over then
    redis.call('HDEL', visitors, host)
    redis.call('SREM', called, host)
  else
    redis.call('HSET', visitors, host, cmsgpack.pack(there))
  end
end

-- For one who claims: those of a host that has some; the flag goes with the last.
local function look_for_visitors(host, record)
  local there = load_visitors(host)
  save_visitors(host, record, there)
  return there
end

-- Whether one who gets claims of a host has to take turns for them.
local function is_shared(there, owner)
  if there[SHARING] > 0 then
    return true
  end
  for _, visitor in ipairs(there[THOSE]) do
    if visitor[VISITOR] ~= owner then
      return true
    end
  end
  return false
end
