-- Ends claims with their outcomes.
-- groups:   name; places; their outcomes, three numbers for those that follow each other and are
--           alike: ENDING * 1000 + STATUS, and 10000 more if it was not sent; how long ago the last
--           request was sent to the host (-1: none was); how many they are
-- extras:   what more there is to say of an outcome that stands alone: group, where its numbers
--           begin, place, fingerprint if its URL is bad now, retry after, Crawl-delay, the name
--           of the host if that does not exist: under it the request is held, for its host key may
--           stand for others too
-- stale:    so many more came too late: count them
-- items:    so many items are from the pages of them all
-- waits:    how soon each page is due again; 0: it goes to the end of its queue at once
-- blobs:    for nav and for data, what to remember of them all, as one compressed chunk; the same of
--           pages that wait; then these
-- returns   if one of them is no claim any more, for each group what is alive, and nothing is done:
--           the chunks tell about all of them; the number of chunks of each family; if pages wait
--           from now on, the time, how many are alone that are due after `far_ms`, and how many wait

local DONE, FAILED, DROPPED = 0, 2, 3
local FAMILIES = { 'stories:nav', 'stories:data', 'visits:nav', 'visits:data' }
local UNSENT = 10000
local ENDINGS = { [0] = 'done', 'replaced', 'failed', 'refused' }

local names, heads, alive = find_groups(groups)
local some = {} -- the places of groups of which not all end
for i, group in ipairs(groups) do
  if group[2] ~= alive[i] then
    some[i] = places_in(group[2])
    for _, place in ipairs(some[i]) do
      if not is_set(alive[i], place) then
        return cmsgpack.pack({ alive, {} })
      end
    end
  end
end

local function note_extra(head, name, extra)
  local place, fingerprint, bad_host = extra[3], extra[4], extra[7]
  if bad_host ~= '' then
    local bad = load_host(bad_host)
    bad[BAD_UNTIL] = now_ms + bad_host_ms
    set_held(bad, true)
    push_back(bad_host, head[KIND], head[LEVEL], request_at(name, head, place))
    reposition(bad_host, bad)
    keep_home(bad_host, head[HOST])
  elseif fingerprint ~= '' then
    local bad = home_of(head[HOST]) .. 'bad'
    redis.call('HSET', bad, fingerprint, number_text(now_ms + bad_url_ms))
  end
end

local NOTHING = { 0, 0, 0, '', 0, 0, '' }
local told = {}
for _, extra in ipairs(extras) do
  told[extra[1]] = told[extra[1]] or {}
  told[extra[1]][extra[2]] = extra
end

-- The delay that began with the claim is over, unless something else was sent.
local function note_unsent(record)
  if has_flag(record, UNSPENT) then
    record[NEXT_AT] = math.min(record[NEXT_AT], now_ms)
    set_flag(record, UNSPENT, false)
  end
  record[READY_AT] = math.min(record[READY_AT], now_ms)
end

local function note_outcome(host, record, ending, status, sent_ago_ms, extra)
  if extra[6] > 0 then
    record[CRAWL_DELAY] = math.min(extra[6], max_pause_ms)
  end
  if sent_ago_ms >= 0 then
    note_sent(host, record, sent_ago_ms)
  end
  local does_exist = extra[7] == ''
  if does_exist and (ending ~= DROPPED or status == 429 or status == 503) then
    note_status(record, status, extra[5])
  end
end

-- As policy.hour_of and policy.sum_hours do.
local function count_hour(pages, failed)
  if pages + items + failed == 0 then
    return
  end
  local hours, hour = prefix .. 'hours', number_text(math.floor(now_ms / 3600000))
  local packed = redis.call('HGET', hours, hour)
  local so_far = packed and cmsgpack.unpack(packed) or { 0, 0, 0, now_ms, now_ms }
  redis.call('HSET', hours, hour, cmsgpack.pack({ so_far[1] + pages, so_far[2] + items,
    so_far[3] + failed, math.min(so_far[4], now_ms), math.max(so_far[5], now_ms) }))
end

begin_writing()
local ended = { [0] = 0, 0, 0, 0 }
for i, group in ipairs(groups) do
  local head = heads[i]
  local host = head[HOST]
  local outcomes = group[3]
  local many = 0
  for j = 3, #outcomes, 3 do
    many = many + outcomes[j]
  end
  local record = end_claims(head, many, some[i])
  for j = 1, #outcomes, 3 do
    local code, sent_ago_ms, alike = outcomes[j], outcomes[j + 1], outcomes[j + 2]
    if code >= UNSENT then
      code = code - UNSENT
      note_unsent(record)
    end
    local ending = math.floor(code / 1000)
    local extra = told[i] and told[i][j]
    ended[ending] = ended[ending] + alike
    note_outcome(host, record, ending, code % 1000, sent_ago_ms, extra or NOTHING)
    if extra then
      note_extra(head, group[1], extra)
    end
  end
  reposition(host, record)
end
for ending, many in pairs(ended) do
  count(ENDINGS[ending], many)
end
count_hour(ended[DONE], ended[FAILED])
save_groups(names, heads)
save_hosts()
local pages, at_once = {}, {}
for i, due_in_ms in ipairs(waits) do
  local page = blob(#FAMILIES + i)
  if due_in_ms > 0 then
    pages[#pages + 1], pages[#pages + 2] = number_text(now_ms + due_in_ms), page
  else
    at_once[#at_once + 1] = page
  end
end
put_waiting(pages)
queue_pages(at_once)
return_idle()

local chunks = {}
for i, family in ipairs(FAMILIES) do
  local chunk = blob(i)
  chunks[i] = chunk ~= '' and redis.call('RPUSH', prefix .. family, chunk) or 0
end
count('stale', stale)
save_counters()
if #pages == 0 then
  return cmsgpack.pack({ {}, chunks })
end
local far = number_text(now_ms + far_ms)
local alone = redis.call('ZCOUNT', waiting, far, '+inf') - redis.call('HLEN', later)
local all = tonumber(redis.call('HGET', meta, 'waiting'))
return cmsgpack.pack({ {}, chunks, now_ms, alone, all })
