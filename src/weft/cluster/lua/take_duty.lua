-- Takes the lease of a duty: if nobody has it, or its holder's has run out. Who has it keeps it.
-- returns  the token of the lease; 0: another has it

begin_writing()
local token = keep_lease(owner, lease_ms)
if not token and make_room(1, true) then
  token = take_lease(owner, lease_ms)
end
return cmsgpack.pack(token or 0)
