-- Adds boards, or changes them.
-- given    of each its name, its JSON and the text of its file
-- returns  of each `added`, `changed` or `unchanged`

local told = {}
for i, source in ipairs(given) do
  local name, board, text = source[1], source[2], source[3]
  local record = load_board(name)
  if not record then
    save_board(name, { board, text, false, now_ms })
    told[i] = 'added'
  elseif record[1] ~= board or record[2] ~= text then
    record[1], record[2] = board, text
    save_board(name, record)
    told[i] = 'changed'
  else
    told[i] = 'unchanged'
  end
end
return cmsgpack.pack(told)
