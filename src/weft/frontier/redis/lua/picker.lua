-- The picker `advanced`: a host that comes to a full bucket goes to the least loaded one, which is
-- remembered in `moved` (host → bucket and home) as long as it has requests or waiting pages there.
-- Only a host that has nothing in its own bucket goes, and its budget goes with it: so it never is in
-- two buckets at once. All buckets of such a job are in one slot. `buckets` are their prefixes.

local moved = job_prefix .. 'moved'

local function moved_to(host)
  local packed = picker == 'advanced' and redis.call('HGET', moved, host)
  if packed then
    return unpack(cmsgpack.unpack(packed)) -- bucket, home
  end
end

-- Where the fingerprints of a host in this bucket are.
local function home_of(host)
  local _, home = moved_to(host)
  return home or prefix
end

-- A host that came into this bucket with another has its fingerprints where that one has.
local function keep_home(host, other)
  local home = home_of(other)
  if host ~= other and home ~= prefix then
    redis.call('HSET', moved, host, cmsgpack.pack({ prefix, home }))
  end
end

local function load_of(bucket)
  local told = redis.call('HMGET', bucket .. 'meta', 'queued_nav', 'queued_data', 'parked')
  return (tonumber(told[1]) or 0) + (tonumber(told[2]) or 0) + (tonumber(told[3]) or 0)
end

local function least_loaded()
  local best, least
  for _, bucket in ipairs(buckets) do
    local load = load_of(bucket)
    if least == nil or load < least then
      best, least = bucket, load
    end
  end
  return best
end

-- The budget of a host, which has nothing queued or claimed, goes with it, and so do its visitors.
local function carry_budget(host, from, to)
  local there = redis.call('HGET', from .. 'visitors', host)
  if there then
    redis.call('HSET', to .. 'visitors', host, there)
    redis.call('HDEL', from .. 'visitors', host)
    redis.call('SMOVE', from .. 'called', to .. 'called', host)
  end
  local packed = redis.call('HGET', from .. 'hosts', host)
  if packed then
    redis.call('HSET', to .. 'hosts', host, packed)
    redis.call('HDEL', from .. 'hosts', host)
    redis.call('HINCRBY', from .. 'meta', 'hosts', -1)
    redis.call('HINCRBY', to .. 'meta', 'hosts', 1)
  end
end

-- Whether a host has nothing here: no request, and no page that waits.
local function is_idle(host, record)
  if record and queued(record) + record[CLAIMED] + parked(record) > 0 then
    return false
  end
  local waits = redis.call('HMGET', prefix .. 'waits', '0' .. host, '1' .. host)
  return not waits[1] and not waits[2]
end

-- Whether the requests of a host go into this bucket, which has so many; sends it away if it is full.
local function belongs_here(host, home, live)
  local bucket = moved_to(host)
  if bucket then
    return bucket == prefix
  end
  if prefix ~= home then
    return false
  end
  if live < bucket_limit then
    return true
  end
  local packed = redis.call('HGET', hosts, host)
  if not is_idle(host, packed and unpack_record(packed)) then
    return true
  end
  local best = least_loaded()
  if best == prefix then
    return true
  end
  carry_budget(host, prefix, best)
  redis.call('HSET', moved, host, cmsgpack.pack({ best, prefix }))
  return false
end

-- Hosts that have nothing left here go back where they came from.
local function return_idle()
  if picker ~= 'advanced' then
    return
  end
  for host, record in pairs(records) do
    local bucket, home = moved_to(host)
    if bucket == prefix and is_idle(host, record) then
      redis.call('HDEL', moved, host)
      carry_budget(host, prefix, home)
    end
  end
end
