-- All nodes, as they said they are. `prefix` is their key.
-- returns  the time by the same clock as theirs; blobs: name and record, in turn

local time = redis.call('TIME')
local reply = redis.call('HGETALL', prefix)
table.insert(reply, 1, cmsgpack.pack(time[1] * 1000 + math.floor(time[2] / 1000)))
return reply
