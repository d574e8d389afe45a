-- Tells which articles repeat earlier ones, and remembers them.
-- urls      of the articles; blobs: the packed signature of each
-- returns   for each the URL of the article that it repeats; empty: it is new
-- Another article that has the same id by chance is forgotten. The first write may take memory: a
-- server that has none refuses the script, which has done nothing yet.

local last = tonumber(redis.call('ZREVRANGE', met, 0, 0, 'WITHSCORES')[2]) or 0

local function id_of(url)
  local hex = redis.sha1hex(url)
  local high, low = string.sub(hex, 1, 8), string.sub(hex, 9, 10)
  return struct.pack('>I4I1', tonumber(high, 16), tonumber(low, 16))
end

local function load_article(id)
  local record = redis.call('HGET', articles, id)
  if not record then
    return nil
  end
  local signature_to = 4 + SIGNATURE_BYTES
  local url_to = signature_to + struct.unpack('>I4', record)
  return {
    signature = string.sub(record, 5, signature_to),
    url = string.sub(record, signature_to + 1, url_to),
    original = string.sub(record, url_to + 1),
  }
end

-- Calls `work` with each mark and the hash that has its articles.
local function for_marks(signature, work)
  for at = MARKS_FROM, MARKS_TO, MARK_BYTES do
    local mark = string.sub(signature, at, at + MARK_BYTES - 1)
    work(mark, marks_key(struct.unpack('>I4', mark) % SHARDS))
  end
end

-- The ids in a list, but for one.
local function without(ids, unwanted)
  for at = 1, #ids, ID_BYTES do
    if string.sub(ids, at, at + ID_BYTES - 1) == unwanted then
      return string.sub(ids, 1, at - 1) .. string.sub(ids, at + ID_BYTES)
    end
  end
  return ids
end

local function note_met(id, signature)
  last = last + 1
  redis.call('ZADD', met, string.format('%d', last), id)
  for_marks(signature, function(mark, key)
    local ids = without(redis.call('HGET', key, mark) or '', id) .. id
    redis.call('HSET', key, mark, string.sub(ids, -max_per_mark * ID_BYTES))
  end)
end

local function forget(id)
  local article = load_article(id)
  redis.call('ZREM', met, id)
  if not article then
    return
  end
  redis.call('HDEL', articles, id)
  for_marks(article.signature, function(mark, key)
    local ids = without(redis.call('HGET', key, mark) or '', id)
    if ids == '' then
      redis.call('HDEL', key, mark)
    else
      redis.call('HSET', key, mark, ids)
    end
  end)
end

-- The articles that have a mark in common with this signature, each once.
local function similar(signature)
  local found, is_found = {}, {}
  for_marks(signature, function(mark, key)
    local ids = redis.call('HGET', key, mark) or ''
    for at = 1, #ids, ID_BYTES do
      local id = string.sub(ids, at, at + ID_BYTES - 1)
      if not is_found[id] then
        is_found[id] = true
        found[#found + 1] = load_article(id)
      end
    end
  end)
  return found
end

-- The URL of the article that this one repeats: of several, the most similar one counts.
local function find_original(url, signature)
  local own = { string.byte(signature, 1, -1) }
  local best, least_distance = '', 2 * HALF + 1
  for _, other in ipairs(similar(signature)) do
    local bytes = { string.byte(other.signature, 1, -1) }
    local is_original = other.original == ''
    local original = is_original and other.url or other.original
    local least = is_original and resemblance or closeness
    local differing = distance(own, bytes)
    if original ~= url and differing < least_distance
      and is_duplicate(own, bytes, least, differing) then
      best, least_distance = original, differing
    end
  end
  return best
end

-- Nothing happens if it was forgotten.
local function note_repeated(url)
  local id = id_of(url)
  local article = load_article(id)
  if article and article.url == url then
    note_met(id, article.signature)
  end
end

local function meet(url, signature)
  local id = id_of(url)
  local known = load_article(id)
  if known and known.url == url then
    note_met(id, known.signature)
    return known.original
  end
  if known then
    forget(id)
  end
  local original = find_original(url, signature)
  redis.call('HSET', articles, id, struct.pack('>I4', #url) .. signature .. url .. original)
  note_met(id, signature)
  if original ~= '' then
    note_repeated(original)
  end
  return original
end

local answers = {}
for i, url in ipairs(urls) do
  answers[i] = meet(url, blob(i))
  while redis.call('ZCARD', met) > max_articles do
    forget(redis.call('ZRANGE', met, 0, 0)[1])
  end
end
return cmsgpack.pack(answers)
