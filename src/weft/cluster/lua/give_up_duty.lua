-- Gives the lease of a duty up, if it is still the one with this token.

begin_writing()
give_up_lease(owner, lease_token)
return cmsgpack.pack(true)
