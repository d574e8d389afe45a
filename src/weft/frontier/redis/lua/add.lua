-- Queues the requests that are not known.
-- groups:   host, kind, level
-- requests: group (from 0), fingerprint, hash, step, flag; five for each
-- blobs:    the packed requests
-- home:     the prefix of the bucket that the hash of these hosts names
-- returns   a letter for each request: Queued, Known, Bad, Dropped before, dropped Now, Moved (not
--           done: the host has another bucket); and the queues whose parked requests fill a block
-- A request is made known and queued in one step, so none is ever known and nowhere.

local PLAIN, FORCED, DROPPED = 0, 1, 2

local bad = home .. 'bad'
local has_bad = redis.call('EXISTS', bad) == 1
local letters = {}
local new = {} -- by group

local function is_bad(fingerprint)
  local until_ms = has_bad and redis.call('HGET', bad, fingerprint)
  if not until_ms then
    return nil
  end
  return tonumber(until_ms) > now_ms
end

local function drop(fingerprint, hash, step)
  if is_seen(fingerprint, hash, step) then
    count('known', 1)
    return 'K'
  end
  if add_exact(load_family('dropped'), fingerprint) then
    count('dropped', 1)
    return 'N'
  end
  return 'D'
end

local function add(group, fingerprint, hash, step, flag, request)
  if flag == DROPPED then
    return drop(fingerprint, hash, step)
  end
  local is_new = learn(groups[group + 1][2], fingerprint, hash, step)
  if not is_new and flag == PLAIN then
    local still_bad = is_bad(fingerprint)
    if still_bad == nil then
      count('known', 1)
      return 'K'
    elseif still_bad then
      count('skipped_bad', 1)
      return 'B'
    end
  end
  if not is_new and has_bad then
    redis.call('HDEL', bad, fingerprint)
  end
  new[group] = new[group] or {}
  table.insert(new[group], request)
  count('added', 1)
  return 'Q'
end

local live = redis.call('HMGET', meta, 'queued_nav', 'queued_data')
live = (tonumber(live[1]) or 0) + (tonumber(live[2]) or 0)

local is_elsewhere = {}
if picker == 'advanced' then
  for number, group in ipairs(groups) do
    is_elsewhere[number - 1] = not belongs_here(group[1], home, live)
  end
end
for i = 1, #requests, 5 do
  local number = #letters + 1
  local group, fingerprint, hash, step, flag = unpack(requests, i, i + 4)
  letters[number] = is_elsewhere[group] and 'M'
    or add(group, fingerprint, hash, step, flag, blob(number))
end

-- How many of the new requests of a host its queue takes; the rest is parked. A host that has
-- something parked parks on, so that requests keep their order; and however full the bucket is,
-- each host has some requests in its queue, so that none waits for another.
local function room_for(record, kind)
  if record[PARKED + kind] > 0 then
    return 0
  end
  return math.max(0, bucket_limit - live, host_floor - queued(record))
end

local blocks = {}

local function park(host, kind, requests)
  local spill = prefix .. 'spill:' .. KINDS[kind] .. ':' .. host
  each_batch('RPUSH', spill, requests)
  count_parked(load_host(host), kind, #requests)
  if redis.call('LLEN', spill) >= block_size then
    blocks[#blocks + 1] = { kind, host }
  end
end

for number, group in ipairs(groups) do
  local entries = new[number - 1]
  if entries then
    local host, kind, level = group[1], group[2], group[3]
    local record = load_host(host)
    local room = room_for(record, kind)
    if room >= #entries then
      push(host, kind, level, entries)
      live = live + #entries
    else
      local fitting, rest = {}, {}
      for i, entry in ipairs(entries) do
        table.insert(i <= room and fitting or rest, entry)
      end
      if #fitting > 0 then
        push(host, kind, level, fitting)
        live = live + #fitting
      end
      park(host, kind, rest)
    end
    reposition(host, record)
  end
end

save_hosts()
save_seen()
save_counters()
return cmsgpack.pack({ table.concat(letters), blocks })
