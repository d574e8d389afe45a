-- Puts pages that wait, and blocks of them, in place of others: the same pages in another form.
-- names:   blocks that are taken
-- taken:   when each page that is taken is due
-- times:   when each page that is put is due
-- blocks:  name of each block that is put, when it is to be opened
-- blobs:   the pages that are taken; those that are put; the blocks that are put
-- returns  whether it was done: if something that was to be taken is there no more, or waits for
--          another visit by now, another was faster

local gone = {}
for i in ipairs(taken) do
  gone[i] = blob(i)
end
for _, name in ipairs(names) do
  gone[#gone + 1] = name
end
for first = 1, #gone, MOST do
  local last = math.min(first + MOST - 1, #gone)
  for i, at_ms in ipairs(redis.call('ZMSCORE', waiting, unpack(gone, first, last))) do
    local wanted = taken[first + i - 1]
    if not at_ms or wanted and tonumber(at_ms) ~= wanted then
      return cmsgpack.pack(false)
    end
  end
end
each_batch('ZREM', waiting, gone)
each_batch('HDEL', later, names)

local places, packed = {}, {}
local number = #taken
for _, at_ms in ipairs(times) do
  number = number + 1
  places[#places + 1], places[#places + 2] = number_text(at_ms), blob(number)
end
for _, block in ipairs(blocks) do
  number = number + 1
  places[#places + 1], places[#places + 2] = number_text(block[2]), block[1]
  packed[#packed + 1], packed[#packed + 2] = block[1], blob(number)
end
each_batch('ZADD', waiting, places)
each_batch('HSET', later, packed)
return cmsgpack.pack(true)
