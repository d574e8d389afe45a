-- Pushes the deadlines of claims of an owner, which are all that it knows of in this bucket. Others
-- in its name are put back: their answer was lost, or the store went back to an earlier state.
-- groups:  name, places
-- stale:   so many more are no claims: count them
-- returns  for each group what is alive, and the owner's; how many were put back

local deadline = number_text(now_ms + claim_ms)
local _, heads, alive = find_groups(groups)
local renewed, known = {}, {}
for i, group in ipairs(groups) do
  if heads[i] and heads[i][OWNER_NAME] ~= owner then
    alive[i] = ''
  end
  known[group[1]] = group[2]
  for _, place in ipairs(places_in(group[2])) do
    if is_set(alive[i], place) then
      renewed[#renewed + 1] = deadline
      renewed[#renewed + 1] = number_text(tonumber(group[1]) + place - 1)
    else
      count('stale', 1)
    end
  end
end
begin_writing()
each_batch('ZADD', due, renewed)
local put_back = put_back_left(choose_groups(function(name, head)
  local unknown = {}
  for _, place in ipairs(head[OWNER_NAME] == owner and places_in(head[ALIVE]) or {}) do
    if not is_set(known[name] or '', place) then
      unknown[#unknown + 1] = place
    end
  end
  return unknown
end))
count('stale', stale)
save_counters()
return cmsgpack.pack({ alive, put_back })
