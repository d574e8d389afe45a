-- What all verbs share: counters, the records of hosts and the rules of their budgets.
-- The rules are those of frontier/policy.py; a state machine holds the two together.

local KINDS = { [0] = 'nav', [1] = 'data' }
local QUEUED_NAMES = { [0] = 'queued_nav', [1] = 'queued_data' }

-- More arguments than this do not fit on Lua's stack.
local MOST = 1000

-- Calls a command with all of these arguments, as often as it takes.
local function each_batch(command, key, arguments)
  for first = 1, #arguments, MOST do
    redis.call(command, key, unpack(arguments, first, math.min(first + MOST - 1, #arguments)))
  end
end

-- Counters

local changes = {}

local function count(name, change)
  changes[name] = (changes[name] or 0) + change
end

local function save_counters()
  for name, change in pairs(changes) do
    if change ~= 0 then
      redis.call('HINCRBY', meta, name, number_text(change))
    end
  end
end

-- Records of hosts, as in policy.HostRecord

local QUEUED, CLAIMED, NEXT_AT, BACKOFF, CRAWL_DELAY = 1, 3, 4, 5, 6 -- QUEUED + kind
local BAD_UNTIL, FLAGS, READY_AT, OWNERS, PARKED = 7, 8, 9, 10, 11 -- PARKED + kind
local HELD, PAUSING, VISITED, UNSPENT = 1, 2, 4, 8 -- flags

local hosts = prefix .. 'hosts'
local ready = prefix .. 'ready'
local records = {}
local touched = {} -- hosts whose records have changed
local stood_at = {} -- where a host stood in the line when it was loaded

-- Fixed fields, then each owner with its number of claims.
local FIXED = '>I4I4I4dI4I4dBdI4I4I2'
local OWNER = '>I2c0I4'

local function unpack_record(packed)
  local nav, data, claimed, next_at, backoff, crawl_delay, bad_until, flags, ready_at, parked_nav,
    parked_data, many, place = struct.unpack(FIXED, packed)
  local owners = {}
  for i = 1, many do
    local owner, held
    owner, held, place = struct.unpack(OWNER, packed, place)
    owners[i] = { owner, held }
  end
  return { nav, data, claimed, next_at, backoff, crawl_delay, bad_until, flags, ready_at,
    owners, parked_nav, parked_data }
end

local function pack_record(record)
  local owners = record[OWNERS]
  local packed = struct.pack(FIXED, record[1], record[2], record[3], record[4], record[5],
    record[6], record[7], record[8], record[9], record[11], record[12], #owners)
  for _, owner in ipairs(owners) do
    packed = packed .. struct.pack(OWNER, #owner[1], owner[1], owner[2])
  end
  return packed
end

local function keep_host(host, packed)
  local record
  if packed then
    record = unpack_record(packed)
  else
    record = { 0, 0, 0, 0, 0, 0, 0, 0, 0, {}, 0, 0 }
    count('hosts', 1)
  end
  records[host] = record
  stood_at[host] = record[READY_AT]
  return record
end

local function load_host(host)
  return records[host] or keep_host(host, redis.call('HGET', hosts, host))
end

-- All at once, so that `load_host` finds them here.
local function load_hosts(names)
  local missing = {}
  for _, host in ipairs(names) do
    if not records[host] then
      missing[#missing + 1] = host
      records[host] = true -- asked for
    end
  end
  for first = 1, #missing, MOST do
    local last = math.min(first + MOST - 1, #missing)
    for i, packed in ipairs(redis.call('HMGET', hosts, unpack(missing, first, last))) do
      keep_host(missing[first + i - 1], packed)
    end
  end
end

local function has_flag(record, flag)
  return bit.band(record[FLAGS], flag) ~= 0
end

local function set_flag(record, flag, is_set)
  if has_flag(record, flag) ~= is_set then
    record[FLAGS] = record[FLAGS] + (is_set and flag or -flag)
  end
end

local function queued(record)
  return record[QUEUED] + record[QUEUED + 1]
end

local function parked(record)
  return record[PARKED] + record[PARKED + 1]
end

local function save_hosts()
  local packed, standing, leaving = {}, {}, {}
  for host in pairs(touched) do
    local record = records[host]
    local at_ms = record[READY_AT]
    packed[#packed + 1] = host
    packed[#packed + 1] = pack_record(record)
    if at_ms ~= stood_at[host] then
      if at_ms > 0 then
        standing[#standing + 1] = number_text(at_ms)
        standing[#standing + 1] = host
      else
        leaving[#leaving + 1] = host
      end
      stood_at[host] = at_ms
    end
  end
  each_batch('HSET', hosts, packed)
  each_batch('ZADD', ready, standing)
  each_batch('ZREM', ready, leaving)
  touched = {}
end

-- Budgets

local function delay_of(host, record)
  local own = limits_by_host[host]
  return math.max(own and own[1] or delay_ms, record[CRAWL_DELAY])
end

local function concurrency_of(host)
  local own = limits_by_host[host]
  return own and own[2] or concurrency
end

local function workers_of(host)
  local own = limits_by_host[host]
  return own and own[3] or workers_per_host
end

-- How many claims of a host an owner has; nil: none.
local function held_by(record, owner)
  for _, held in ipairs(record[OWNERS]) do
    if held[1] == owner then
      return held[2]
    end
  end
end

local function count_owner(record, owner, change)
  local owners = record[OWNERS]
  for i, held in ipairs(owners) do
    if held[1] == owner then
      held[2] = held[2] + change
      if held[2] <= 0 then
        table.remove(owners, i)
      end
      return
    end
  end
  if change > 0 then
    owners[#owners + 1] = { owner, change }
  end
end

local function note_sent(host, record, ago_ms)
  local delay = delay_of(host, record)
  local at_ms = now_ms - ago_ms + delay
  if delay > 0 and at_ms >= record[NEXT_AT] then
    record[NEXT_AT] = at_ms
    set_flag(record, UNSPENT, false)
  end
end

-- The right to send is handed out.
local function start_delay(host, record)
  local delay = delay_of(host, record)
  if delay > 0 then
    record[NEXT_AT] = now_ms + delay
    set_flag(record, PAUSING, false)
    set_flag(record, UNSPENT, false)
  end
end

-- Whether the host has asked to be left alone.
local function is_pausing(record)
  return record[NEXT_AT] > now_ms and has_flag(record, PAUSING)
end

-- What an answer says about its host. Those to requests that were under way together count once, the
-- worst of them.
local function note_status(record, status, retry_after_ms)
  if status == 429 or status == 503 then
    if not is_pausing(record) then
      record[BACKOFF] = record[BACKOFF] + 1
    end
    local pause = backoff_ms * 2 ^ math.min(record[BACKOFF] - 1, 30)
    pause = math.max(math.min(pause, max_backoff_ms), math.min(retry_after_ms, max_pause_ms))
    record[NEXT_AT] = math.max(record[NEXT_AT], now_ms + pause)
    set_flag(record, PAUSING, true)
    set_flag(record, UNSPENT, false)
  elseif status > 0 and record[BACKOFF] > 0 and not is_pausing(record) then
    record[BACKOFF] = 0
  end
end

-- Counts the requests of a host as held, or no longer.
local function set_held(record, is_held)
  if is_held ~= has_flag(record, HELD) then
    set_flag(record, HELD, is_held)
    count('held', is_held and queued(record) or -queued(record))
  end
end

local function count_queued(record, kind, change)
  record[QUEUED + kind] = record[QUEUED + kind] + change
  count(QUEUED_NAMES[kind], change)
  if has_flag(record, HELD) then
    count('held', change)
  end
end

local function count_parked(record, kind, change)
  record[PARKED + kind] = record[PARKED + kind] + change
  count('parked', change)
end

-- From when on claims of a host may be handed out. While workers take turns of it, whoever has a
-- claim waits for its turn.
local function open_at(record)
  if has_flag(record, VISITED) and not has_flag(record, PAUSING) then
    return record[BAD_UNTIL]
  end
  return math.max(record[NEXT_AT], record[BAD_UNTIL])
end

-- Gives a host its place in the line; one that stands there keeps it, another has one since
-- `since_ms`, or now. Called after every change.
local function reposition(host, record, since_ms)
  touched[host] = true
  local at_ms = 0
  if queued(record) > 0 and record[CLAIMED] < concurrency_of(host) then
    at_ms = record[READY_AT] > 0 and record[READY_AT] or since_ms or now_ms
    at_ms = math.max(open_at(record), at_ms)
  end
  record[READY_AT] = at_ms
end
