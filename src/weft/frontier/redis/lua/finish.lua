-- Ends claims with their outcomes.
-- groups:   name; places; of each its ending and status, ENDING * 1000 + STATUS; how long ago the
--           last request was sent to its host (-1: none was)
-- extras:   where there is more to say: group, number in its places, fingerprint, retry after,
--           Crawl-delay, is host bad
-- spent:    batches that have no claims any more
-- stale:    so many more came too late: count them
-- blobs:    for nav and for data, what to remember of them all, as one compressed chunk
-- returns   for each group and place whether it is still a claim; the number of chunks, for nav and
--           data
-- If one of them is no claim any more, nothing is done: the chunks tell about all of them.

local FAILED, DROPPED = 2, 3
local ENDINGS = { [0] = 'done', 'replaced', 'failed', 'refused' }

local names, answers = {}, {}
local is_stale = false
for i, group in ipairs(groups) do
  names[i] = group[1]
end
local heads = load_groups(names)
for i, group in ipairs(groups) do
  answers[i] = {}
  for j, place in ipairs(group[2]) do
    answers[i][j] = is_alive(heads[i], place)
    is_stale = is_stale or not answers[i][j]
  end
end
if is_stale then
  return cmsgpack.pack({ answers, {} })
end

local function back_off(record, retry_after_ms)
  -- Answers to requests that were under way together count once.
  local is_pausing = record[BACKOFF] > 0 and record[NEXT_AT] > now_ms
  if not is_pausing then
    record[BACKOFF] = record[BACKOFF] + 1
  end
  local pause = backoff_ms * 2 ^ math.min(record[BACKOFF] - 1, 30)
  pause = math.max(math.min(pause, max_backoff_ms), math.min(retry_after_ms, max_pause_ms))
  record[NEXT_AT] = math.max(record[NEXT_AT], now_ms + pause)
end

local function note_extra(head, record, name, place, ending, extra)
  local fingerprint, is_host_bad = extra[3], extra[6]
  if is_host_bad then
    record[BAD_UNTIL] = now_ms + bad_host_ms
    set_held(record, true)
    push_back(head[HOST], head[KIND], head[LEVEL], requests_of(name)[place])
  elseif ending == FAILED then
    local bad = home_of(head[HOST]) .. 'bad'
    redis.call('HSET', bad, fingerprint, number_text(now_ms + bad_url_ms))
  end
end

local NOTHING = { 0, 0, '', 0, 0, false }
local told = {}
for _, extra in ipairs(extras) do
  told[extra[1]] = told[extra[1]] or {}
  told[extra[1]][extra[2]] = extra
end

local function note_outcome(host, record, ending, status, sent_ago_ms, extra)
  if extra[5] > 0 then
    record[CRAWL_DELAY] = math.min(extra[5], max_pause_ms)
  end
  if sent_ago_ms >= 0 then
    note_sent(host, record, sent_ago_ms)
  end
  if extra[6] then
    return -- the host is bad
  elseif status == 429 or status == 503 then
    back_off(record, extra[4])
  elseif status > 0 and ending ~= DROPPED then
    record[BACKOFF] = 0
  end
end

begin_writing()
local ended = { [0] = 0, 0, 0, 0 }
for i, group in ipairs(groups) do
  local head = heads[i]
  local host = head[HOST]
  local record = end_claims(head, group[2])
  for j, code in ipairs(group[3]) do
    local ending = math.floor(code / 1000)
    local extra = told[i] and told[i][j]
    ended[ending] = ended[ending] + 1
    note_outcome(host, record, ending, code % 1000, group[4][j], extra or NOTHING)
    if extra then
      note_extra(head, record, group[1], group[2][j], ending, extra)
    end
  end
  reposition(host, record)
end
for ending, many in pairs(ended) do
  count(ENDINGS[ending], many)
end
save_groups(names, heads)
each_batch('ZREM', due, spent)
save_hosts()
return_idle()

local chunks = {}
for kind = 0, 1 do
  local chunk = blob(kind + 1)
  chunks[kind + 1] = chunk ~= '' and redis.call('RPUSH', prefix .. 'stories:' .. KINDS[kind], chunk)
    or 0
end
count('stale', stale)
save_counters()
return cmsgpack.pack({ answers, chunks })
