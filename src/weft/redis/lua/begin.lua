-- Decides whether an earlier crawl is to be forgotten, and who does it.
-- run:         of the crawl if it starts over
-- stats_run:   what the caller tells of the crawl is about this run; empty: about none, for another
--              was clearing
-- is_all_done: nothing of the crawl is pending
-- is_served:   a worker works on it; one that has marked the crawl as finished is about to end
-- added:       requests that were ever added, to see whether the crawl is marked as finished
-- returns      `join`, `clear` or `wait`; the run of the job; blob: its shape as it is
-- One of several that begin at the same time clears, the others wait for it; if it dies, another
-- takes over after `patience_ms`.

local job = prefix .. 'job'
local told = redis.call('HMGET', job, 'run', 'shape', 'finished', 'clearing')

local function start_clearing()
  redis.call('HSET', job, 'clearing', number_text(now_ms + patience_ms))
end

if told[4] then
  if tonumber(told[4]) > now_ms then
    return { cmsgpack.pack({ 'wait', told[1] }), told[2] }
  end
  start_clearing()
  return { cmsgpack.pack({ 'clear', told[1] }), told[2] }
end
local is_abandoned = not is_served or told[3] == number_text(added)
local is_over = is_all_done and is_abandoned and told[1] == stats_run
if is_fresh or (is_rerun and is_over) then
  redis.call('HSET', job, 'run', run)
  redis.call('HDEL', job, 'finished')
  start_clearing()
  return { cmsgpack.pack({ 'clear', run }), told[2] }
end
redis.call('HDEL', job, 'finished')
return { cmsgpack.pack({ 'join', told[1] }), told[2] }
