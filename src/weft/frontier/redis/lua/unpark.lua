-- Puts parked requests of a host into their queue.
-- source:   `blocks`, whose first block holds them, or `spill`, whose first elements they are
-- blobs:    the first and the last of the `length` elements that the source must still begin with
--           (else another was faster); then the packed requests
-- levels:   level, and how many of the requests it has
-- returns   whether it was done

local hungry = prefix .. 'hungry'
local key = prefix .. source .. ':' .. KINDS[kind] .. ':' .. host
local many = 0

if redis.call('LINDEX', key, 0) ~= blob(1) or redis.call('LINDEX', key, length - 1) ~= blob(2) then
  return cmsgpack.pack(false)
end
redis.call('LTRIM', key, length, -1)
local record = load_host(host)
for _, level in ipairs(levels) do
  local requests = {}
  for i = 1, level[2] do
    requests[i] = blob(2 + many + i)
  end
  push(host, kind, level[1], requests)
  many = many + #requests
end
count_parked(record, kind, -many)
if parked(record) == 0 or queued(record) >= host_floor / 2 then
  redis.call('SREM', hungry, host)
end
reposition(host, record)
save_hosts()
save_counters()
return cmsgpack.pack(true)
