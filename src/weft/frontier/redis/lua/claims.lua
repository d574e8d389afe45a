-- Claims, in groups: requests of one host, kind and level that were handed out together. A group is
-- named by its first token; its requests have consecutive tokens. `claims` has its head: kind, host,
-- owner, level, a text with a 1 for each that is still a claim and a 0 for one that has ended, and
-- its batch. Verbs are told with such a text too which places of a group they are about.
--
-- A batch is all that one call handed out, and is named by its tokens, `FIRST:LAST`. `claimed` has
-- its packed requests, which most often nobody looks at again, `batches` how many of them are still
-- claims: with the last one it goes. `due` has its deadline; a token that is renewed has one of its
-- own besides, which then counts.

local claims = prefix .. 'claims'
local batches = prefix .. 'batches'
local due = prefix .. 'due'

local KIND, HOST, OWNER_NAME, LEVEL, ALIVE, BATCH = 1, 2, 3, 4, 5, 6
local ended_in = {} -- batch → how many of its claims have ended in this call

local function claimed_key(batch)
  return prefix .. 'claimed:' .. batch
end

local function is_set(text, place)
  return text:byte(place) == 49 -- '1'
end

-- The places that a text names, the last first.
local function places_in(text)
  local places = {}
  for place = #text, 1, -1 do
    if is_set(text, place) then
      places[#places + 1] = place
    end
  end
  return places
end

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

-- What a verb is told of groups, name and places each: their names, their heads, what is alive.
local function find_groups(groups)
  local names, alive = {}, {}
  for i, group in ipairs(groups) do
    names[i] = group[1]
  end
  local heads = load_groups(names)
  for i = 1, #names do
    alive[i] = heads[i] and heads[i][ALIVE] or ''
  end
  return names, heads, alive
end

-- Takes so many claims of a group from their owner, at these places; nil: all that are alive.
local function end_claims(head, many, places)
  local record = records[head[HOST]]
  record[CLAIMED] = record[CLAIMED] - many
  count_owner(record, head[OWNER_NAME], -many)
  count('claimed', -many)
  ended_in[head[BATCH]] = (ended_in[head[BATCH]] or 0) + many
  if places == nil then
    head[ALIVE] = ''
  else
    for _, place in ipairs(places) do
      head[ALIVE] = head[ALIVE]:sub(1, place - 1) .. '0' .. head[ALIVE]:sub(place + 1)
    end
  end
  return record
end

local function save_groups(names, heads)
  local changed, gone = {}, {}
  for i, name in ipairs(names) do
    if heads[i][ALIVE]:find('1', 1, true) then
      changed[#changed + 1] = name
      changed[#changed + 1] = cmsgpack.pack(heads[i])
    else
      gone[#gone + 1] = name
    end
  end
  each_batch('HSET', claims, changed)
  each_batch('HDEL', claims, gone)
  for batch, many in pairs(ended_in) do
    if redis.call('HINCRBY', batches, batch, number_text(-many)) <= 0 then
      redis.call('HDEL', batches, batch)
      redis.call('UNLINK', claimed_key(batch))
      redis.call('ZREM', due, batch)
    end
  end
end

-- Where the requests of a group begin in those of its batch.
local function start_of(name, head)
  return tonumber(name) - tonumber(head[BATCH]:match('^%d+'))
end

-- The packed requests of a group, by their places; before its claims are ended.
local function requests_of(name, head)
  local start = start_of(name, head)
  return redis.call('LRANGE', claimed_key(head[BATCH]), start, start + #head[ALIVE] - 1)
end

-- The packed request at one place of a group, before or after its claim has ended.
local function request_at(name, head, place)
  return redis.call('LINDEX', claimed_key(head[BATCH]), start_of(name, head) + place - 1)
end

-- Puts claims back at the head of their queues. The last claimed comes first, so that the first
-- claimed ends up at the head: groups and places are sorted that way.
local function give_back(names, heads, places)
  for i, name in ipairs(names) do
    local head = heads[i]
    local requests = requests_of(name, head)
    local record = end_claims(head, #places[i], places[i])
    for _, place in ipairs(places[i]) do
      push_back(head[HOST], head[KIND], head[LEVEL], requests[place])
    end
    reposition(head[HOST], record)
  end
  save_groups(names, heads)
end

-- Puts claims back that their owners have left, or do not know of: their requests may have been
-- sent at any moment until now. The number of them.
local function put_back_left(names, heads, places)
  local many = 0
  for i, head in ipairs(heads) do
    note_sent(head[HOST], load_host(head[HOST]), 0)
    many = many + #places[i]
  end
  if many > 0 then
    give_back(names, heads, places)
    save_hosts()
    count('reclaimed', many)
  end
  return many
end

-- The groups for which `choose(name, head)` names places, the last claimed first: what
-- `put_back_left` is told.
local function choose_groups(choose)
  local chosen, places = {}, {}
  local found = redis.call('HGETALL', claims)
  for i = 1, #found, 2 do
    local own = choose(found[i], cmsgpack.unpack(found[i + 1]))
    if #own > 0 then
      chosen[#chosen + 1] = found[i]
      places[found[i]] = own
    end
  end
  table.sort(chosen, function(one, other) return tonumber(one) > tonumber(other) end)
  local in_order = {}
  for i, name in ipairs(chosen) do
    in_order[i] = places[name]
  end
  return chosen, load_groups(chosen), in_order
end
