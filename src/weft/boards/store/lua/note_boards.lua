-- Adds up what a process reports of boards; once, also if it is sent again.
-- reporter  the process
-- number    of this report of it; the next has a greater one
-- reports   of each board: its name; names and numbers of counts; shapes with their articles and
--           lists; problems with the time of each
-- Votes are kept as `articles lists noted_at_ms`, reporters as `number noted_at_ms`.

local noted = prefix .. 'boards:noted'

local function forget_old_reporters()
  if redis.call('HLEN', noted) <= max_reporters then
    return
  end
  local all = redis.call('HGETALL', noted)
  for i = 1, #all, 2 do
    local noted_at_ms = tonumber(string.match(all[i + 1], ' (%d+)$'))
    if noted_at_ms < now_ms - patience_ms then
      redis.call('HDEL', noted, all[i])
    end
  end
end

local function add_votes(key, shapes)
  for _, vote in ipairs(shapes) do
    local before = redis.call('HGET', key, vote[1]) or '0 0 0'
    local articles, lists = string.match(before, '^(%d+) (%d+)')
    local text = string.format('%d %d %d', articles + vote[2], lists + vote[3], now_ms)
    redis.call('HSET', key, vote[1], text)
  end
  if #shapes == 0 or redis.call('HLEN', key) <= max_shapes then
    return
  end
  local found = {}
  local all = redis.call('HGETALL', key)
  for i = 1, #all, 2 do
    found[#found + 1] = { all[i], tonumber(string.match(all[i + 1], ' (%d+)$')) }
  end
  table.sort(found, function(one, other)
    if one[2] ~= other[2] then
      return one[2] > other[2]
    end
    return one[1] < other[1]
  end)
  for i = kept_shapes + 1, #found do
    redis.call('HDEL', key, found[i][1])
  end
end

local function add_problems(key, problems)
  for _, problem in ipairs(problems) do
    local before = tonumber(redis.call('ZSCORE', key, problem[1])) or 0
    redis.call('ZADD', key, number_text(math.max(before, problem[2])), problem[1])
  end
  redis.call('ZREMRANGEBYRANK', key, 0, -max_problems - 1)
end

local last = string.match(redis.call('HGET', noted, reporter) or '', '^(%d+)')
if last and tonumber(last) >= number then
  return cmsgpack.pack(false)
end
redis.call('HSET', noted, reporter, string.format('%d %d', number, now_ms))
forget_old_reporters()
for _, report in ipairs(reports) do
  local name = report[1]
  if redis.call('HEXISTS', prefix .. 'boards', name) == 1 then
    local own = prefix .. 'board:' .. name
    redis.call('HSET', prefix .. 'boards:active', name, number_text(now_ms))
    for _, count in ipairs(report[2]) do
      redis.call('HINCRBY', own .. ':counts', count[1], count[2])
    end
    add_votes(own .. ':votes', report[3])
    if #report[4] > 0 then
      add_problems(own .. ':problems', report[4])
    end
  end
end
return cmsgpack.pack(true)
