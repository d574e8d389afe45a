-- Asks for a file: it is there, or it is ours to download, or another downloads it.
-- file_key:  which file, as a field of the hash
-- owner:     who asks; a claim of its own is renewed
-- claim_ms:  how long it is to have the claim
-- returns    'done', 'ours' or 'wait'; blob: what became of it, if it is there
-- A file is kept as `until_ms owner` while it is downloaded, and as `until_ms  result` then; with an
-- owner that is empty, which none is.

local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
local media = prefix .. 'media'
local record = redis.call('HGET', media, file_key)
if record then
  local until_ms, holder, rest = string.match(record, '^(%d+) (%S*) ?(.*)$')
  if tonumber(until_ms) > now_ms then
    if holder == '' then
      return { cmsgpack.pack('done'), rest }
    end
    if holder ~= owner then
      return { cmsgpack.pack('wait') }
    end
  end
end
redis.call('HSET', media, file_key, string.format('%d', now_ms + claim_ms) .. ' ' .. owner)
return { cmsgpack.pack('ours') }
