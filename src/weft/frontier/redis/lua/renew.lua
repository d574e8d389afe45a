-- Pushes the deadlines of claims.
-- groups:  name, places
-- stale:   so many more are no claims: count them
-- returns  for each group and place whether it is still a claim

local deadline = number_text(now_ms + claim_ms)
local names, answers, renewed = {}, {}, {}
for i, group in ipairs(groups) do
  names[i] = group[1]
end
local heads = load_groups(names)
for i, group in ipairs(groups) do
  answers[i] = {}
  for j, place in ipairs(group[2]) do
    answers[i][j] = is_alive(heads[i], place)
    if answers[i][j] then
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
return cmsgpack.pack(answers)
