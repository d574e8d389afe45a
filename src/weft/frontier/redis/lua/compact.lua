-- Replaces the head of one list by a block at the end of another.
-- blobs:   the first and the last of the `length` elements that the list must still begin with (else
--          another was faster); then the block
-- kept:    so many of the blocks are kept, the latest; 0: all
-- returns  whether it was done

if redis.call('LINDEX', prefix .. source, 0) ~= blob(1)
  or redis.call('LINDEX', prefix .. source, length - 1) ~= blob(2) then
  return cmsgpack.pack(false)
end
redis.call('LTRIM', prefix .. source, length, -1)
redis.call('RPUSH', prefix .. target, blob(3))
if kept > 0 then
  redis.call('LTRIM', prefix .. target, -kept, -1)
end
return cmsgpack.pack(true)
