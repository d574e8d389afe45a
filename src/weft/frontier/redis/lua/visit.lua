-- Tells what a worker has under way at hosts, and takes turns there; see frontier/turns.py.
-- visits:   host, home (the prefix of the bucket that its hash names), concurrency, under way,
--           unused, waiting, sharing, sent ago (-1: never), status, retry after, Crawl-delay
-- returns   for each: turns given (-1: not done, the host has another bucket); when it may be worth
--           asking for more, in ms (-1: not before something changes); the number of the sharing;
--           how long the host wants to be left alone

local SHARED_MS = 30000 -- these two as in turns.py
local PATIENCE_MS = 2000

-- A server without memory lets a script go on that has begun to write.
redis.call('HDEL', visitors, '')

local function has_claims(record, name)
  return held_by(record, name) ~= nil
end

local function enter(there, under_way, unused, waiting, sharing)
  local me
  for _, visitor in ipairs(there[THOSE]) do
    if visitor[VISITOR] == owner then
      me = visitor
    end
  end
  if not me then
    me = { owner, 0, 0, 0, false, 0, 0 }
    table.insert(there[THOSE], me)
  end
  me[HEARD_AT] = now_ms
  me[KEPT_UNTIL] = now_ms + keep_ms
  me[PLACES] = under_way + unused
  me[HAS_UNUSED] = unused > 0
  me[KNOWS] = sharing
  if waiting == 0 then
    me[WAITS_SINCE] = 0
  elseif me[WAITS_SINCE] == 0 then
    me[WAITS_SINCE] = now_ms
  end
  return me
end

local function is_busy(visitor)
  return visitor[PLACES] > 0 or visitor[WAITS_SINCE] > 0
end

-- Whether one is busy there, and another is too, or has claims.
local function do_several_send(there, record)
  local first
  for _, visitor in ipairs(there[THOSE]) do
    if is_busy(visitor) then
      if first then
        return true
      end
      first = visitor[VISITOR]
    end
  end
  for _, held in ipairs(record[OWNERS]) do
    if first and held[1] ~= first then
      return true
    end
  end
  return false
end

local function note_sharing(there, record)
  if do_several_send(there, record) then
    there[SHARING] = there[SHARING] > 0 and there[SHARING] or now_ms
    there[SHARED_UNTIL] = now_ms + SHARED_MS
  elseif there[SHARED_UNTIL] <= now_ms then
    there[SHARING] = 0
  end
end

-- Those who have claims of a shared host and may not know yet that it is: how many, and whether we
-- are one of them.
local function find_called(there, record)
  if there[SHARING] == 0 then
    return 0, false
  end
  local is_knowing = {}
  for _, visitor in ipairs(there[THOSE]) do
    is_knowing[visitor[VISITOR]] = visitor[KNOWS] == there[SHARING]
  end
  local many, is_me = 0, false
  for _, held in ipairs(record[OWNERS]) do
    if not is_knowing[held[1]] then
      many = many + 1
      is_me = is_me or held[1] == owner
    end
  end
  return many, is_me
end

-- Whether someone has been waiting for longer.
local function is_behind(there, me)
  for _, other in ipairs(there[THOSE]) do
    local since_ms = other[WAITS_SINCE]
    if since_ms > 0 and other[HEARD_AT] + PATIENCE_MS > now_ms and (since_ms < me[WAITS_SINCE]
      or since_ms == me[WAITS_SINCE] and other[VISITOR] < me[VISITOR]) then
      return true
    end
  end
  return false
end

local function places(there)
  local many = 0
  for _, visitor in ipairs(there[THOSE]) do
    many = many + visitor[PLACES]
  end
  return many
end

local function has_unused(there)
  for _, visitor in ipairs(there[THOSE]) do
    if visitor[HAS_UNUSED] then
      return true
    end
  end
  return false
end

local function give(there, record, me, host, most, waiting)
  if waiting == 0 then
    return 0, -1
  end
  local many_called, is_me = find_called(there, record)
  if is_me then
    return 0, 0 -- it hears of it by this answer
  elseif many_called > 0 then
    return 0, -1
  end
  local is_host_its_own = there[SHARING] == 0 and has_claims(record, owner)
  local has_delay = not is_host_its_own and delay_of(host, record) > 0
  if record[NEXT_AT] > now_ms and (has_delay or has_flag(record, PAUSING)) then
    return 0, record[NEXT_AT] - now_ms
  end
  local free = most - places(there)
  if free <= 0 or is_behind(there, me) then
    return 0, -1
  elseif not has_delay then
    return math.min(free, waiting), -1
  elseif has_unused(there) then -- the delay counts from the moment of sending
    return 0, -1
  end
  start_delay(host, record)
  return 1, delay_of(host, record)
end

local function leave(there)
  for i, visitor in ipairs(there[THOSE]) do
    if visitor[VISITOR] == owner then
      table.remove(there[THOSE], i)
      return
    end
  end
end

local function visit(host, most, under_way, unused, waiting, sharing, sent_ago_ms, status,
  retry_after_ms, crawl_delay_ms)
  local record = load_host(host)
  local there = load_visitors(host)
  if crawl_delay_ms > 0 then
    record[CRAWL_DELAY] = math.min(crawl_delay_ms, max_pause_ms)
  end
  if sent_ago_ms >= 0 then
    note_sent(host, record, sent_ago_ms)
  end
  note_status(record, status, retry_after_ms)
  local me = enter(there, under_way, unused, waiting, sharing)
  note_sharing(there, record)
  local given, next_in_ms = give(there, record, me, host, most, waiting)
  me[PLACES] = me[PLACES] + given
  me[HAS_UNUSED] = me[HAS_UNUSED] or given > 0
  if given > 0 then
    me[WAITS_SINCE] = 0
  end
  if not is_busy(me) and not (there[SHARING] > 0 and has_claims(record, owner)) then
    leave(there)
  end
  save_visitors(host, record, there)
  redis.call(find_called(there, record) > 0 and 'SADD' or 'SREM', called, host)
  reposition(host, record)
  return { given, next_in_ms, there[SHARING], is_pausing(record) and record[NEXT_AT] - now_ms or 0 }
end

local taken = {}
for i, told in ipairs(visits) do
  local host, home = told[1], told[2]
  local is_here = picker ~= 'advanced' or (moved_to(host) or home) == prefix
  taken[i] = is_here and visit(host, unpack(told, 3)) or { -1, -1, 0, 0 }
end
save_hosts()
save_counters()
return cmsgpack.pack(taken)
