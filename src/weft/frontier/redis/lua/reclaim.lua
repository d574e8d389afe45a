-- Puts overdue claims back, those of up to `limit` deadlines.
-- returns their number, and whether there may be more

local batches = redis.call('ZRANGEBYSCORE', due, '-inf', now_ms, 'LIMIT', 0, limit)
local overdue = {} -- numbers of tokens
for _, batch in ipairs(batches) do
  local first, last = batch:match('^(%d+):(%d+)$')
  for number = tonumber(first or batch), tonumber(last or batch) do
    -- One that was renewed has a deadline of its own.
    if first == nil or not redis.call('ZSCORE', due, number_text(number)) then
      overdue[#overdue + 1] = number
    end
  end
end
each_batch('ZREM', due, batches)
table.sort(overdue, function(one, other) return one > other end)

-- The group of a token is the one that begins at or before it.
local starts = {}
for _, name in ipairs(#overdue > 0 and redis.call('HKEYS', claims) or {}) do
  starts[#starts + 1] = tonumber(name)
end
table.sort(starts, function(one, other) return one > other end)

local names, numbers = {}, {}
local at = 1
for _, number in ipairs(overdue) do
  while starts[at] and starts[at] > number do
    at = at + 1
  end
  if starts[at] then
    local name = number_text(starts[at])
    if names[#names] ~= name then
      names[#names + 1] = name
      numbers[#names] = {}
    end
    table.insert(numbers[#names], number - starts[at] + 1)
  end
end

local heads = load_groups(names)
local known, known_heads, known_places = {}, {}, {}
local reclaimed = 0
for i, name in ipairs(names) do
  local places = {}
  for _, place in ipairs(numbers[i]) do
    if is_set(heads[i][ALIVE], place) then
      places[#places + 1] = place
    end
  end
  if #places > 0 then
    -- Its request may have been sent at any moment until now.
    note_sent(heads[i][HOST], load_host(heads[i][HOST]), 0)
    known[#known + 1] = name
    known_heads[#known] = heads[i]
    known_places[#known] = places
    reclaimed = reclaimed + #places
  end
end
if reclaimed > 0 then
  give_back(known, known_heads, known_places)
  save_hosts()
  count('reclaimed', reclaimed)
  save_counters()
end
return cmsgpack.pack({ reclaimed, #batches == limit })
