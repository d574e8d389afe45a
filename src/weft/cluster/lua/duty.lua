-- Who has a duty.
-- returns  a list of one, or of none: owner, token, and for how long its lease still is, in ms (0: it
--          has run out, and the next who asks takes it)

local holders = {}
local found = redis.call('HGETALL', lease)
for i = 1, #found, 2 do
  local held = cmsgpack.unpack(found[i + 1])
  holders[#holders + 1] = { found[i], held[TOKEN], math.max(0, held[UNTIL] - now_ms) }
end
return cmsgpack.pack(holders)
