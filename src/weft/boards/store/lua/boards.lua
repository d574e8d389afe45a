-- The records of boards. Each is packed as board, text, is_paused, added_at_ms, changed_at_ms and
-- version; board is JSON.

local boards = prefix .. 'boards'

local function load_board(name)
  local record = redis.call('HGET', boards, name)
  return record and cmsgpack.unpack(record)
end

local function next_revision()
  return redis.call('INCR', prefix .. 'boards:revision')
end

-- Stores a record that was changed.
local function save_board(name, record)
  record[5] = now_ms
  record[6] = next_revision()
  redis.call('HSET', boards, name, cmsgpack.pack(record))
end

-- Adds a board, or changes it; returns `added`, `changed` or `unchanged`.
local function put_board(name, board, text)
  local record = load_board(name)
  if not record then
    save_board(name, { board, text, false, now_ms })
    return 'added'
  elseif record[1] ~= board or record[2] ~= text then
    record[1], record[2] = board, text
    save_board(name, record)
    return 'changed'
  end
  return 'unchanged'
end

-- Forgets what was counted of a board.
local function forget_reports(name)
  local own = prefix .. 'board:' .. name
  redis.call('UNLINK', own .. ':counts', own .. ':votes', own .. ':problems')
end
