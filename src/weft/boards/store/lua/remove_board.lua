-- Removes a board, and all that was reported of it.
-- returns  whether there was one with this name

local is_there = redis.call('HDEL', boards, name) == 1
if is_there then
  next_revision()
  redis.call('HDEL', prefix .. 'boards:active', name)
  forget_reports(name)
end
return cmsgpack.pack(is_there)
