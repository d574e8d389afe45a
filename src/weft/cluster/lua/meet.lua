-- A member says that it is there, and hears who else is.
-- known_epoch:  the epoch of the member list that it knows
-- many_seats:   how many seats it is to have
-- patience_ms:  who was not heard of for so long is gone; 0: nobody goes now
-- blob:         its status, for people
-- returns       the epoch, the state of the job, and the members if the epoch is another: name,
--               number, seats. The epoch changes whenever that list does.

local members, heard, status = prefix .. 'members', prefix .. 'heard', prefix .. 'status'
local order = prefix .. 'order'
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
local is_changed = false

local function forget(gone)
  redis.call('HDEL', members, gone)
  redis.call('HDEL', status, gone)
  redis.call('ZREM', heard, gone)
  is_changed = true
end

-- A server without memory refuses a script whose first write could take some, and lets one go on
-- that has begun to write. Members must be heard, or else they lose their leases.
redis.call('HDEL', members, '')

-- Who was not heard of for a while itself, or never, does not know how long the others are silent:
-- it may have been the server that stood still, with this call under way.
local heard_at_ms = tonumber(redis.call('ZSCORE', heard, name) or '0')
if patience_ms > 0 and heard_at_ms > now_ms - patience_ms / 2 then
  local gone = redis.call('ZRANGEBYSCORE', heard, '-inf', string.format('%d', now_ms - patience_ms))
  for _, other in ipairs(gone) do
    if other ~= name then
      forget(other)
    end
  end
end

local by_name = {}
local found = redis.call('HGETALL', members)
for i = 1, #found, 2 do
  by_name[found[i]] = cmsgpack.unpack(found[i + 1])
end

-- The lowest number that is not taken; it is then.
local function take_free(taken)
  local number = 0
  while taken[number] do
    number = number + 1
  end
  taken[number] = true
  return number
end

local mine = by_name[name]
if not mine or #mine[2] ~= many_seats then
  local numbers, seats = {}, {}
  for _, member in pairs(by_name) do
    numbers[member[1]] = true
    for _, seat in ipairs(member[2]) do
      seats[seat] = true
    end
  end
  mine = mine or { take_free(numbers), {} }
  while #mine[2] > many_seats do
    table.remove(mine[2])
  end
  while #mine[2] < many_seats do
    table.insert(mine[2], take_free(seats))
  end
  redis.call('HSET', members, name, cmsgpack.pack(mine))
  by_name[name] = mine
  is_changed = true
end
redis.call('ZADD', heard, string.format('%d', now_ms), name)
redis.call('HSET', status, name, blob(1))

local epoch
if is_changed then
  epoch = redis.call('HINCRBY', order, 'epoch', '1')
else
  epoch = tonumber(redis.call('HGET', order, 'epoch') or '0')
end
local list = {}
if epoch ~= known_epoch then
  for other, member in pairs(by_name) do
    list[#list + 1] = { other, member[1], member[2] }
  end
end
return cmsgpack.pack({ epoch, redis.call('HGET', order, 'state') or '', list })
