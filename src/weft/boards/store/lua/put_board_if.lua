-- Adds or changes a board, if it is what its author takes it for. One that says the same already is
-- unchanged in any case: a call may be sent again after its reply was lost.
-- wanted   its version; 0: there is none; -1: whatever it is
-- returns  `added`, `changed` or `unchanged`, or nothing if it has another version; its version now

local function version_now()
  local record = load_board(name)
  return record and record[6] or 0
end

local function says_the_same()
  local record = load_board(name)
  return record and record[1] == board and record[2] == text
end

local status = ''
if wanted < 0 or wanted == version_now() or says_the_same() then
  status = put_board(name, board, text)
end
return cmsgpack.pack({ status, version_now() })
