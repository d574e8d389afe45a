-- The queues of a host: a list for each page kind; for the order `random` a set; for `priority` a
-- list for each level, and a sorted set of the levels. (One sorted set of requests would take
-- twice the memory, and could not put a request back at the head.)

local function queue_key(host, kind, level)
  if order == 'priority' then
    return prefix .. 'queue:' .. KINDS[kind] .. ':' .. level .. ':' .. host
  end
  return prefix .. 'queue:' .. KINDS[kind] .. ':' .. host
end

local function levels_key(host, kind)
  return prefix .. 'levels:' .. KINDS[kind] .. ':' .. host
end

local function push(host, kind, level, requests)
  each_batch(order == 'random' and 'SADD' or 'RPUSH', queue_key(host, kind, level), requests)
  if order == 'priority' then
    redis.call('ZADD', levels_key(host, kind), -tonumber(level), level)
  end
  count_queued(load_host(host), kind, #requests)
end

-- To the head: it is the next to be served.
local function push_back(host, kind, level, request)
  local command = 'LPUSH'
  if order == 'dfs' then
    command = 'RPUSH'
  elseif order == 'random' then
    command = 'SADD'
  end
  redis.call(command, queue_key(host, kind, level), request)
  if order == 'priority' then
    redis.call('ZADD', levels_key(host, kind), -tonumber(level), level)
  end
  count_queued(load_host(host), kind, 1)
end

local POP = { bfs = 'LPOP', dfs = 'RPOP', random = 'SPOP' }

local function take_by_level(host, kind, most)
  local levels = levels_key(host, kind)
  while true do
    local level = redis.call('ZRANGE', levels, '0', '0')[1]
    local taken = redis.call('LPOP', queue_key(host, kind, level), number_text(most))
    if not taken or #taken < most then
      redis.call('ZREM', levels, level) -- it is empty now
    end
    if taken then
      return taken, level
    end
  end
end

-- Takes up to that many requests of a kind, which the host must have: those of one level, and it.
local function take(host, kind, most)
  local taken, level
  if order == 'priority' then
    taken, level = take_by_level(host, kind, most)
  else
    taken, level = redis.call(POP[order], queue_key(host, kind), number_text(most)), '0'
  end
  count_queued(load_host(host), kind, -#taken)
  return taken, level
end

-- Deletes the queue of a kind, what is parked of it too.
local function empty(host, kind)
  local record = load_host(host)
  if order == 'priority' then
    for _, level in ipairs(redis.call('ZRANGE', levels_key(host, kind), 0, -1)) do
      redis.call('UNLINK', queue_key(host, kind, level))
    end
  end
  local name = KINDS[kind] .. ':' .. host
  redis.call('UNLINK', levels_key(host, kind), prefix .. 'queue:' .. name,
    prefix .. 'spill:' .. name, prefix .. 'blocks:' .. name)
  count_queued(record, kind, -record[QUEUED + kind])
  count_parked(record, kind, -record[PARKED + kind])
end
