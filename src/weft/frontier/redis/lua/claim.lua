-- Hands out up to `limit` requests of hosts that may be fetched now.
-- returns whether the owner has the lease that it must have (nothing is done otherwise);
--         when it may be worth asking again, in ms (-1: not before something changes); the deadline;
--         hosts whose parked requests are wanted; the first token; for each group of claims the
--         delay of its host; hosts that others send to as well; names of blocks of waiting pages
--         that are to be opened. Blobs: the packed requests, whose tokens follow each other; the
--         heads of their groups; the blocks
-- A request goes from its queue into a claim in one step. Of the pages that wait, those come back
-- into their queues before that have been due for `due_for_ms`.

if lease_token > 0 then
  local mine = valid_lease(owner, lease_token)
  if not mine then
    return { cmsgpack.pack({ false, -1, 0, {}, 0, {} }) }
  end
  if call <= mine[LAST_CALL] then -- it was made already, or comes late
    return { cmsgpack.pack({ true, 0, 0, {}, 0, {} }) }
  end
  begin_writing()
  save_lease(owner, lease_token, mine[UNTIL], call)
end

local WAKE_MOST = 256 -- as in policy.py
local AHEAD_MS = 10000 -- as in waitingpages.py
local hungry = prefix .. 'hungry'

-- `sharers` may have claims of one host, each its part of the concurrency.
local function part_of(host)
  return math.ceil(concurrency_of(host) / math.min(sharers, workers_of(host)))
end

local function may_serve(host, record)
  local held = held_by(record, owner)
  local has_delay = delay_of(host, record) > 0
  if held == nil then
    return #record[OWNERS] < (has_delay and 1 or workers_of(host))
  end
  return has_delay or held < part_of(host)
end

-- The next hosts in line that this owner may serve, up to `most`, of those that stand there before
-- `until_ms`; `walk` is the place to go on from.
local function walk_line(walk, until_ms, most)
  local found = {}
  local page_size = math.min(most, 64)
  while #found < most do
    local limits = { 'LIMIT', walk.offset, math.min(page_size, most - #found) }
    local page = redis.call('ZRANGEBYSCORE', ready, '-inf', until_ms, unpack(limits))
    load_hosts(page)
    for _, host in ipairs(page) do
      if may_serve(host, load_host(host)) then
        found[#found + 1] = host
      end
    end
    walk.offset = walk.offset + #page
    if #page < limits[3] then
      break
    end
  end
  return found
end

local function allowance(host, record)
  if open_at(record) > now_ms then
    return 0
  end
  local free = math.max(0, concurrency_of(host) - record[CLAIMED])
  if delay_of(host, record) > 0 then
    free = math.min(free, 1)
  else
    free = math.min(free, math.max(0, part_of(host) - (held_by(record, owner) or 0)))
  end
  return math.min(free, queued(record))
end

local until_ms = now_ms + claim_ms
local requests, groups, delays = {}, {}, {}
local PER_HOST = 8 -- as in policy.py
local served = {}
local shared = {} -- hosts that others send to as well
local walk = { offset = 0 }
local left = limit

local function hand_out(host, kind, many, delay)
  while many > 0 do
    local taken, level = take(host, kind, many)
    groups[#groups + 1] = { kind, host, owner, level, string.rep('1', #taken) }
    delays[#delays + 1] = delay
    local before = #requests
    for i, request in ipairs(taken) do
      requests[before + i] = request
    end
    many = many - #taken
  end
end

local function claim_from(host, most)
  local record = load_host(host)
  local there = has_flag(record, VISITED) and look_for_visitors(host, record)
  set_held(record, false)
  local many = math.min(most, allowance(host, record))
  if many <= 0 then
    return
  end
  local delay = delay_of(host, record)
  local data = math.min(many, record[QUEUED + 1])
  if data > 0 then
    hand_out(host, 1, data, delay)
  end
  if many > data then
    hand_out(host, 0, many - data, delay)
  end
  record[CLAIMED] = record[CLAIMED] + many
  count_owner(record, owner, many)
  if not has_flag(record, VISITED) then
    start_delay(host, record)
    set_flag(record, UNSPENT, delay > 0)
  elseif is_shared(there, owner) then
    shared[host] = true
  end
  count('claimed', many)
  left = left - many
end

local due_until_ms = now_ms - due_for_ms
local due_at, to_open = wake(due_until_ms, WAKE_MOST)
if #to_open > 0 and due_at + AHEAD_MS <= due_until_ms then
  left = 0 -- pages of that block are due, and may come before what is queued
end
if due_at and due_at > due_until_ms and due_for_ms > 0 then
  due_at = nil -- it stays out of reach
end

local size = math.max(1, math.floor(limit / PER_HOST))
while left > 0 do
  local chunk = walk_line(walk, now_ms, size)
  if #chunk == 0 then
    break
  end
  -- At first each gives its share, so that one does not take it all; one with a delay gives no more.
  for round, quota in ipairs({ math.max(1, math.floor(left / #chunk)), limit }) do
    for _, host in ipairs(chunk) do
      if left <= 0 then
        break
      end
      if round == 1 or delay_of(host, load_host(host)) == 0 then
        claim_from(host, math.min(quota, left))
      end
    end
  end
  for _, host in ipairs(chunk) do
    served[#served + 1] = host
  end
end
for _, host in ipairs(served) do
  local record = load_host(host)
  record[READY_AT] = 0 -- to the end of the line
  -- Claims are a delay apart, even where it is turns that keep the delay.
  reposition(host, record, has_flag(record, VISITED) and now_ms + delay_of(host, record))
  if parked(record) > 0 and queued(record) < host_floor / 2 then
    redis.call('SADD', hungry, host)
  end
end
save_hosts()
save_counters()

-- Writes down what was handed out; the first token, and the heads of the groups.
local function save_claims()
  local first = next_number('last_token')
  local last = number_text(first + #requests - 1)
  local batch = number_text(first) .. ':' .. last
  local heads, by_name = {}, {}
  local token = first
  for i, head in ipairs(groups) do
    head[BATCH] = batch
    heads[i] = cmsgpack.pack(head)
    by_name[2 * i - 1], by_name[2 * i] = number_text(token), heads[i]
    token = token + #head[ALIVE]
  end
  each_batch('HSET', claims, by_name)
  each_batch('RPUSH', claimed_key(batch), requests)
  redis.call('HSET', batches, batch, number_text(#requests))
  redis.call('ZADD', due, number_text(until_ms), batch)
  redis.call('HSET', meta, 'last_token', last)
  return first, heads
end

local first_token, heads = 0, {}
if #requests > 0 then
  first_token, heads = save_claims()
end

local first = walk_line({ offset = 0 }, '+inf', 1)[1]
local next_at = math.min(first and load_host(first)[READY_AT] or math.huge, due_at or math.huge)
local next_in_ms = next_at < math.huge and math.max(0, next_at - now_ms) or -1
local wanted = redis.call('SRANDMEMBER', hungry, 4)
local reply = requests
local with_others = {}
for host in pairs(shared) do
  with_others[#with_others + 1] = host
end
table.insert(reply, 1, cmsgpack.pack({ true, next_in_ms, until_ms, wanted, first_token, delays,
  with_others, to_open }))
for _, head in ipairs(heads) do
  reply[#reply + 1] = head
end
for _, name in ipairs(to_open) do
  reply[#reply + 1] = redis.call('HGET', later, name)
end
return reply
