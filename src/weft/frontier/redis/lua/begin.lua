-- Decides whether an earlier crawl is to be forgotten, and who does it.
-- added:      requests that were ever added, to see whether the crawl is finished
-- returns     `join`, `clear` or `wait`; the run of the job; blob: its shape as it is
-- One of several that begin at the same time clears, the others wait for it; if it dies, another
-- takes over after `patience_ms`.

local job = prefix .. 'job'
local told = redis.call('HMGET', job, 'run', 'shape', 'finished', 'clearing')
if now_ms == 0 then
  local time = redis.call('TIME')
  now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
end

local function start_clearing()
  redis.call('HSET', job, 'clearing', string.format('%d', now_ms + patience_ms))
end

if told[4] then
  if tonumber(told[4]) > now_ms then
    return { cmsgpack.pack({ 'wait', told[1] }), told[2] }
  end
  start_clearing()
  return { cmsgpack.pack({ 'clear', told[1] }), told[2] }
end
local is_finished = added > 0 and told[3] == string.format('%d', added)
if is_fresh or (is_rerun and is_finished) then
  redis.call('HSET', job, 'run', run)
  redis.call('HDEL', job, 'finished')
  start_clearing()
  return { cmsgpack.pack({ 'clear', run }), told[2] }
end
redis.call('HDEL', job, 'finished')
return { cmsgpack.pack({ 'join', told[1] }), told[2] }
