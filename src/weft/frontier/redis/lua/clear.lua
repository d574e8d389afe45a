-- Empties the queues of one kind and forgets its pages, but for those that are claimed (`kept`:
-- fingerprint, hash, step; three for each); or everything, if `kind` is -1.

local function forget_all()
  for _, host in ipairs(redis.call('HKEYS', hosts)) do
    empty(host, 0)
    empty(host, 1)
  end
  for _, name in ipairs({ 'nav', 'data', 'dropped' }) do
    forget_seen(name)
    redis.call('UNLINK', prefix .. 'stories:' .. name, prefix .. 'history:' .. name,
      prefix .. 'visits:' .. name, prefix .. 'visited:' .. name)
  end
  for _, batch in ipairs(redis.call('HKEYS', prefix .. 'batches')) do
    redis.call('UNLINK', prefix .. 'claimed:' .. batch)
  end
  for _, name in ipairs({ 'meta', 'hours', 'hosts', 'ready', 'claims', 'batches', 'due', 'bad', 'hungry',
    'lease', 'visitors', 'called', 'waiting', 'later', 'waits' }) do
    redis.call('UNLINK', prefix .. name)
  end
end

local function is_known(i)
  return is_seen_as(KINDS[kind], kept[i], kept[i + 1], kept[i + 2])
end

local function forget_kind()
  for _, host in ipairs(redis.call('HKEYS', hosts)) do
    local record = load_host(host)
    empty(host, kind)
    if parked(record) > 0 then
      redis.call('SADD', prefix .. 'hungry', host)
    else
      redis.call('SREM', prefix .. 'hungry', host)
    end
    reposition(host, record)
  end
  save_hosts()
  local was_known = {}
  for i = 1, #kept, 3 do
    was_known[i] = is_known(i)
  end
  forget_seen(KINDS[kind])
  for i = 1, #kept, 3 do
    if was_known[i] then
      learn(kind, kept[i], kept[i + 1], kept[i + 2])
    end
  end
  if bloom_capacity == 0 then
    for _, fingerprint in ipairs(redis.call('HKEYS', prefix .. 'bad')) do
      if not is_seen(fingerprint) then
        redis.call('HDEL', prefix .. 'bad', fingerprint)
      end
    end
  end
  forget_waiting(kind)
  save_seen()
  save_counters()
  for _, log in ipairs({ 'stories:', 'history:', 'visits:', 'visited:' }) do
    redis.call('UNLINK', prefix .. log .. KINDS[kind])
  end
end

if kind < 0 then
  forget_all()
else
  forget_kind()
end
return cmsgpack.pack(true)
