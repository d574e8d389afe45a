-- Claims, in groups: requests of one host, kind and level that were handed out together. A group is
-- named by its first token; its requests have consecutive tokens. `claims` has its head (kind, host,
-- owner, level, how many are left, and a 1 for each that is), `claimed` the packed requests, which
-- most often nobody looks at again.
--
-- Deadlines are kept for batches, `FIRST:LAST`, of all tokens that one call handed out. A token that
-- is renewed has a deadline of its own besides, which then counts. A batch whose claims have all
-- ended goes when a worker says so, or at its deadline.

local claims = prefix .. 'claims'
local claimed = prefix .. 'claimed'
local due = prefix .. 'due'

-- A server without memory refuses a script whose first write could take some, and lets one go on
-- that has begun to write. What ends or renews claims must go on, so it begins with a write that
-- changes nothing.
local function begin_writing()
  redis.call('HDEL', claims, '')
end

local KIND, HOST, OWNER_NAME, LEVEL, LEFT, ALIVE = 1, 2, 3, 4, 5, 6

-- The heads of groups, with the records of their hosts; nil for those that are not there.
local function load_groups(names)
  local heads, of_hosts = {}, {}
  for first = 1, #names, MOST do
    local last = math.min(first + MOST - 1, #names)
    for i, packed in ipairs(redis.call('HMGET', claims, unpack(names, first, last))) do
      if packed then
        local head = cmsgpack.unpack(packed)
        heads[first + i - 1] = head
        of_hosts[#of_hosts + 1] = head[HOST]
      end
    end
  end
  load_hosts(of_hosts)
  return heads
end

local function is_alive(head, place)
  return head ~= nil and head[ALIVE]:byte(place) == 49 -- '1'
end

-- Takes the claims at these places of a group from their owner; they must be alive.
local function end_claims(head, places)
  local record = records[head[HOST]]
  record[CLAIMED] = record[CLAIMED] - #places
  count_owner(record, head[OWNER_NAME], -#places)
  count('claimed', -#places)
  head[LEFT] = head[LEFT] - #places
  if head[LEFT] > 0 then
    for _, place in ipairs(places) do
      head[ALIVE] = head[ALIVE]:sub(1, place - 1) .. '0' .. head[ALIVE]:sub(place + 1)
    end
  end
  return record
end

local function save_groups(names, heads)
  local changed, gone = {}, {}
  for i, name in ipairs(names) do
    if heads[i][LEFT] > 0 then
      changed[#changed + 1] = name
      changed[#changed + 1] = cmsgpack.pack(heads[i])
    else
      gone[#gone + 1] = name
    end
  end
  each_batch('HSET', claims, changed)
  each_batch('HDEL', claims, gone)
  each_batch('HDEL', claimed, gone)
end

local function requests_of(name)
  return cmsgpack.unpack(redis.call('HGET', claimed, name))
end

-- Puts claims back at the head of their queues. The last claimed comes first, so that the first
-- claimed ends up at the head: groups and places are sorted that way.
local function give_back(names, heads, places)
  for i, name in ipairs(names) do
    local head = heads[i]
    local record = end_claims(head, places[i])
    local requests = requests_of(name)
    for _, place in ipairs(places[i]) do
      push_back(head[HOST], head[KIND], head[LEVEL], requests[place])
    end
    reposition(head[HOST], record)
  end
  save_groups(names, heads)
end
