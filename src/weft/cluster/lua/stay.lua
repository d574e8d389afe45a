-- A member is still there, though it has nothing to say. One that is no longer in the list stays out.
-- returns  whether it is in the list

local time = redis.call('TIME')
local now_ms = string.format('%d', time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('HDEL', prefix .. 'members', '') -- as in meet.lua
redis.call('ZADD', prefix .. 'heard', 'XX', now_ms, name)
return cmsgpack.pack(redis.call('HEXISTS', prefix .. 'members', name) == 1)
