-- Keeps the lease of a duty, if it is still the one with this token.
-- returns  whether it is

begin_writing()
local mine = lease_of(owner)
local is_kept = mine and mine[TOKEN] == lease_token
if is_kept then
  keep_lease(owner, lease_ms)
end
return cmsgpack.pack(is_kept or false)
