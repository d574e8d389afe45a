-- Gives the lease of a bucket up, if it is still the one with this token (0: whichever it is): a
-- call may arrive late, when its owner has taken the bucket again.

begin_writing()
local mine = lease_of(owner)
if mine and (lease_token == 0 or mine[TOKEN] == lease_token) then
  redis.call('HDEL', lease, owner)
end
return cmsgpack.pack(true)
