-- Adds boards, or changes them.
-- given    of each its name, its JSON and the text of its file
-- returns  of each `added`, `changed` or `unchanged`

local told = {}
for i, source in ipairs(given) do
  told[i] = put_board(source[1], source[2], source[3])
end
return cmsgpack.pack(told)
