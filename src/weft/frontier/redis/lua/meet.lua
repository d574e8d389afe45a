-- A worker says that it is there.
-- returns the names of all that were heard of lately, in order

local workers = prefix .. 'workers'
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', workers, '-inf', now_ms - patience_ms)
redis.call('ZADD', workers, now_ms, name)
local names = redis.call('ZRANGE', workers, 0, -1)
table.sort(names)
return cmsgpack.pack(names)
