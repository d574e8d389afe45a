-- Forgets all that was reported of boards; they stay. The last reports of processes stay, too: one
-- that is sent again is still known.

for _, name in ipairs(redis.call('HKEYS', boards)) do
  forget_reports(name)
end
redis.call('DEL', prefix .. 'boards:active')
return cmsgpack.pack(true)
