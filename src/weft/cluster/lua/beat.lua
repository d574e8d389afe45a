-- A node says that it is there. `prefix` is the key of all nodes.
-- instance:   the process that says so; a name belongs to one at a time
-- lost_ms:    who was not heard of for so long is lost, and its name is free
-- forget_ms:  who was lost for so long is not listed any more; 0: all stay now
-- blob:       its status, for people
-- returns     when another with this name was heard of, and then nothing was done; 0: there is none.
--             Whether this instance is new. The nodes that were forgotten.
-- A node is kept as `instance heard_at_ms status`.

local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)

local function read(record)
  local who, heard_at_ms = string.match(record, '^(%S+) (%d+) ')
  return who, tonumber(heard_at_ms)
end

-- So that a server without memory lets the rest go on: see basics.lua.
redis.call('HDEL', prefix, '')

local who
local record = redis.call('HGET', prefix, name)
if record then
  local heard_at_ms
  who, heard_at_ms = read(record)
  if who ~= instance and heard_at_ms > now_ms - lost_ms then
    return cmsgpack.pack({ heard_at_ms, false, {} })
  end
end
redis.call('HSET', prefix, name, instance .. ' ' .. string.format('%d', now_ms) .. ' ' .. blob(1))

local forgotten = {}
if forget_ms > 0 then
  local all = redis.call('HGETALL', prefix)
  for i = 1, #all, 2 do
    local _, heard_at_ms = read(all[i + 1])
    if heard_at_ms < now_ms - forget_ms then
      redis.call('HDEL', prefix, all[i])
      forgotten[#forgotten + 1] = all[i]
    end
  end
end
return cmsgpack.pack({ 0, who ~= instance, forgotten })
