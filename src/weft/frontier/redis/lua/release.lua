-- Puts claims back untouched.
-- groups:  name, places; the last claimed first, none twice
-- stale:   so many more are no claims: count them
-- returns  for each group what was alive

local names, heads, alive = find_groups(groups)
local known, known_heads, known_places = {}, {}, {}
local released = 0
for i, group in ipairs(groups) do
  local places = {}
  for _, place in ipairs(places_in(group[2])) do
    if is_set(alive[i], place) then
      places[#places + 1] = place
    else
      count('stale', 1)
    end
  end
  if #places > 0 then
    known[#known + 1] = names[i]
    known_heads[#known] = heads[i]
    known_places[#known] = places
    released = released + #places
  end
end
begin_writing()
give_back(known, known_heads, known_places)
save_hosts()
count('released', released)
count('stale', stale)
save_counters()
return cmsgpack.pack(alive)
