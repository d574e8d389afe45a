-- Puts claims back untouched.
-- groups:  name, places; the last claimed first, none twice
-- stale:   so many more are no claims: count them
-- returns  for each group and place whether it was still a claim

local names, answers = {}, {}
for i, group in ipairs(groups) do
  names[i] = group[1]
end
local heads = load_groups(names)
local known, known_heads, known_places = {}, {}, {}
local released = 0
for i, group in ipairs(groups) do
  answers[i] = {}
  local places = {}
  for j, place in ipairs(group[2]) do
    answers[i][j] = is_alive(heads[i], place)
    if answers[i][j] then
      places[#places + 1] = place
    else
      count('stale', 1)
    end
  end
  if #places > 0 then
    known[#known + 1] = group[1]
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
return cmsgpack.pack(answers)
