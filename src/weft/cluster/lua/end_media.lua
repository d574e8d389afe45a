-- A download has ended.
-- keep_ms:  how long its result holds; 0: it failed, and another may try
-- blob:     the result
-- returns   whether it was noted; what failed is left alone where the claim is another's by now, and
--           a result never is replaced by a failure

local media = prefix .. 'media'
if keep_ms > 0 then
  local time = redis.call('TIME')
  local until_ms = time[1] * 1000 + math.floor(time[2] / 1000) + keep_ms
  redis.call('HSET', media, file_key, string.format('%d', until_ms) .. '  ' .. blob(1))
  return cmsgpack.pack(true)
end
local record = redis.call('HGET', media, file_key)
if record and string.match(record, '^%d+ (.*)$') == owner then
  redis.call('HDEL', media, file_key)
  return cmsgpack.pack(true)
end
return cmsgpack.pack(false)
