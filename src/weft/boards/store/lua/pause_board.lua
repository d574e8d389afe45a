-- Pauses or resumes a board.
-- returns  whether there is one with this name

local record = load_board(name)
if record and record[3] ~= is_paused then
  record[3] = is_paused
  save_board(name, record)
end
return cmsgpack.pack(record ~= false)
