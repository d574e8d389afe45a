-- Takes a member off the list. The epoch changes only if it was there, and in the same step: who has
-- seen the one has seen the other.

redis.call('HDEL', prefix .. 'status', name)
redis.call('ZREM', prefix .. 'heard', name)
if redis.call('HDEL', prefix .. 'members', name) > 0 then
  redis.call('HINCRBY', prefix .. 'order', 'epoch', '1')
end
return cmsgpack.pack(true)
