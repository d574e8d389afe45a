-- The workers of a job, as they said they are. `prefix` is that of the job.
-- returns  for each, how long ago it was heard of; blobs: name and status, in turn

local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
local ages_ms, reply = {}, { '' }
local heard = redis.call('ZRANGE', prefix .. 'heard', '0', '-1', 'WITHSCORES')
for i = 1, #heard, 2 do
  local status = redis.call('HGET', prefix .. 'status', heard[i])
  if status then
    ages_ms[#ages_ms + 1] = now_ms - tonumber(heard[i + 1])
    reply[#reply + 1] = heard[i]
    reply[#reply + 1] = status
  end
end
reply[1] = cmsgpack.pack(ages_ms)
return reply
