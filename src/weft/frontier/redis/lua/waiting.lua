-- Pages that wait until they are due. `waiting` has them by that time, each as P, its fingerprint (8
-- bytes: what is due together comes back in this order), kind, level, host, and its request. Pages
-- that are due later are gathered into blocks, which the scripts do not look into: `later` has the
-- blocks by name, and `waiting` has the names (B, kind, number of pages) by the time at which a block
-- is to be opened. Clients make and open blocks; see waiting.py.
--
-- With the picker `advanced`, `waits` has how many pages of a kind and host wait: a host stays in
-- its bucket as long as there are any.

local waiting = prefix .. 'waiting'
local later = prefix .. 'later'
local counts_of_waits = prefix .. 'waits'
local PAGE = 80 -- 'P'
local OPEN_MOST = 4 -- blocks that are handed out in one call

-- Kind, level, host, request.
local function unpack_page(member)
  local kind, level, host, place = struct.unpack('>BBc0I2c0', member, 10)
  return kind, level, host, member:sub(place)
end

local function count_wait(kind, host, change)
  if picker == 'advanced' then
    local name = kind .. host
    if redis.call('HINCRBY', counts_of_waits, name, number_text(change)) <= 0 then
      redis.call('HDEL', counts_of_waits, name)
    end
  end
end

-- Pages with the time at which they are due, two for each.
local function put_waiting(pages)
  local many = 0
  for first = 1, #pages, MOST do
    local last = math.min(first + MOST - 1, #pages)
    many = many + redis.call('ZADD', waiting, unpack(pages, first, last))
  end
  count('waiting', many)
  if picker == 'advanced' then
    for i = 2, #pages, 2 do
      local kind, _, host = unpack_page(pages[i])
      count_wait(kind, host, 1)
    end
  end
end

-- Puts these pages at the end of their queues.
local function queue_pages(pages)
  local groups, by_name, names = {}, {}, {}
  for _, member in ipairs(pages) do
    local kind, level, host, request = unpack_page(member)
    local name = kind .. level .. ' ' .. host
    local group = by_name[name]
    if not group then
      group = { kind, level, host, {} }
      groups[#groups + 1], by_name[name], names[#names + 1] = group, group, host
    end
    table.insert(group[4], request)
  end
  load_hosts(names)
  for _, group in ipairs(groups) do
    local kind, level, host, requests = unpack(group)
    push(host, kind, level, requests)
    reposition(host, load_host(host))
  end
  save_hosts() -- their places in the line are read there
end

-- When the first page is due, or the first block to be opened; nil: nothing waits.
local function first_due()
  return tonumber(redis.call('ZRANGE', waiting, '0', '0', 'WITHSCORES')[2])
end

-- Queues up to `most` pages that are due until then: those before the first block that is to be
-- opened, whose pages may be due earlier than what follows. When the next is due, and the names of
-- these blocks.
local function wake(until_ms, most)
  local to_open = {}
  local at_ms = first_due()
  if not at_ms or at_ms > until_ms then
    return at_ms, to_open
  end
  local pages = {}
  local limit = { 'LIMIT', '0', number_text(most) }
  local due = redis.call('ZRANGEBYSCORE', waiting, '-inf', number_text(until_ms), unpack(limit))
  for _, member in ipairs(due) do
    if member:byte() ~= PAGE then
      to_open[#to_open + 1] = member
    elseif #to_open == 0 then
      pages[#pages + 1] = member
    end
    if #to_open == OPEN_MOST then
      break
    end
  end
  if #pages > 0 then
    each_batch('ZREM', waiting, pages)
    count('waiting', -#pages)
    queue_pages(pages)
    for _, member in ipairs(pages) do
      local kind, _, host = unpack_page(member)
      count_wait(kind, host, -1)
    end
    at_ms = first_due()
  end
  return at_ms, to_open
end

-- Forgets what waits as this kind.
local function forget_waiting(kind)
  local gone, many = {}, 0
  for _, member in ipairs(redis.call('ZRANGE', waiting, '0', '-1')) do
    if member:byte() == PAGE then
      if member:byte(10) == kind then
        gone[#gone + 1] = member
        many = many + 1
      end
    else
      local of_kind, pages = member:match('^B(%d):(%d+):')
      if tonumber(of_kind) == kind then
        gone[#gone + 1] = member
        many = many + tonumber(pages)
        redis.call('HDEL', later, member)
      end
    end
  end
  each_batch('ZREM', waiting, gone)
  count('waiting', -many)
  for _, name in ipairs(redis.call('HKEYS', counts_of_waits)) do
    if tonumber(name:sub(1, 1)) == kind then
      redis.call('HDEL', counts_of_waits, name)
    end
  end
end
