-- Gives the lease of a bucket up, if it is still the one with this token: a call may arrive late,
-- when its owner has taken the bucket again.

begin_writing()
local mine = lease_of(owner)
if mine and mine[TOKEN] == lease_token then
  redis.call('HDEL', lease, owner)
end
return cmsgpack.pack(true)
