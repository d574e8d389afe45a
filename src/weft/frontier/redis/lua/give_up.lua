-- Gives the lease of a bucket up, if it is still the one with this token (0: whichever it is).

begin_writing()
give_up_lease(owner, lease_token)
return cmsgpack.pack(true)
