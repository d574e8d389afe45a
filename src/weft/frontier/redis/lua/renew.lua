-- Pushes the deadlines of claims.
-- groups:  name, places
-- stale:   so many more are no claims: count them
-- returns  for each group what is alive

local deadline = number_text(now_ms + claim_ms)
local _, _, alive = find_groups(groups)
local renewed = {}
for i, group in ipairs(groups) do
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
count('stale', stale)
save_counters()
return cmsgpack.pack(alive)
