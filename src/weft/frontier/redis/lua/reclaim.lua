-- Puts overdue claims back, those of up to `limit` deadlines.
-- returns their number, and whether there may be more

local late = redis.call('ZRANGEBYSCORE', due, '-inf', now_ms, 'LIMIT', 0, limit)
local overdue = {} -- numbers of tokens
for _, batch in ipairs(late) do
  local first, last = batch:match('^(%d+):(%d+)$')
  for number = tonumber(first or batch), tonumber(last or batch) do
    -- One that was renewed has a deadline of its own.
    if first == nil or not redis.call('ZSCORE', due, number_text(number)) then
      overdue[#overdue + 1] = number
    end
  end
end
each_batch('ZREM', due, late)
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
for i, name in ipairs(names) do
  local places = {}
  for _, place in ipairs(numbers[i]) do
    if is_set(heads[i][ALIVE], place) then
      places[#places + 1] = place
    end
  end
  if #places > 0 then
    known[#known + 1] = name
    known_heads[#known] = heads[i]
    known_places[#known] = places
  end
end
local reclaimed = put_back_left(known, known_heads, known_places)
save_counters()
return cmsgpack.pack({ reclaimed, #late == limit })
