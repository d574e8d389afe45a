-- Which fingerprints were ever queued (families `nav` and `data`) or dropped (`dropped`).
--
-- Exact: integers in many small sets. Redis keeps a set of up to 512 integers as a sorted array of
-- 8 bytes each. The number of sets grows with the number of fingerprints, one set at a time (linear
-- hashing): when they hold more than PER_SET on average, the next set in turn is split in two.
--
-- Bloom: layers of bits. A layer that has taken its capacity is followed by one for twice as many.
-- The first may err almost as often as was asked for, and each that follows half as often as the one
-- before, of the little that is left: so all together never err more often.

local PER_SET = 200 -- a set that waits to be split has twice as many

local home = home or prefix -- where the fingerprints of a host are, wherever its requests are
local home_meta = home .. 'meta'

local families = {}

local function load_family(name)
  local family = families[name]
  if family == nil then
    local told = redis.call('HMGET', home_meta, 'urls_' .. name, 'sets_' .. name)
    local sets = tonumber(told[2]) or 1
    family = { name = name, urls = tonumber(told[1]) or 0, sets = sets, low = 1 }
    family.had_urls = family.urls
    while family.low * 2 <= sets do
      family.low = family.low * 2
    end
    families[name] = family
  end
  return family
end

-- number modulo a power of two up to 2^26, of a decimal that a double cannot hold
local function modulo(decimal, divisor)
  if #decimal <= 9 then
    return tonumber(decimal) % divisor
  end
  local high, low = tonumber(decimal:sub(1, -10)), tonumber(decimal:sub(-9))
  return ((high % divisor) * (1000000000 % divisor) + low) % divisor
end

local function set_key(name, number)
  return home .. 'seen:' .. name .. ':' .. number
end

local function set_of(family, fingerprint)
  local number = modulo(fingerprint, family.low * 2)
  if number >= family.sets then
    number = number - family.low
  end
  return set_key(family.name, number)
end

local function split_next(family)
  local from, to = set_key(family.name, family.sets - family.low), set_key(family.name, family.sets)
  local moving = {}
  for _, fingerprint in ipairs(redis.call('SMEMBERS', from)) do
    if modulo(fingerprint, family.low * 2) == family.sets then
      moving[#moving + 1] = fingerprint
    end
  end
  if #moving > 0 then
    each_batch('SREM', from, moving)
    each_batch('SADD', to, moving)
  end
  family.sets = family.sets + 1
  if family.sets == family.low * 2 then
    family.low = family.sets
  end
end

local function has_exact(family, fingerprint)
  return family.urls > 0 and redis.call('SISMEMBER', set_of(family, fingerprint), fingerprint) == 1
end

local function add_exact(family, fingerprint)
  if redis.call('SADD', set_of(family, fingerprint), fingerprint) == 0 then
    return false
  end
  family.urls = family.urls + 1
  if family.urls > family.sets * PER_SET then
    split_next(family)
  end
  return true
end

-- Bloom filters

local BITS, HASHES, CAPACITY, TAKEN = 1, 2, 3, 4

local filters = {}

local function load_filter(name)
  local filter = filters[name]
  if filter == nil then
    local packed = redis.call('HGET', home_meta, 'layers_' .. name)
    filter = { name = name, layers = packed and cmsgpack.unpack(packed) or {} }
    filters[name] = filter
  end
  return filter
end

local function layer_key(filter, number)
  return home .. 'bloom:' .. filter.name .. ':' .. number
end

local function add_layer(filter)
  local number = #filter.layers
  local capacity = bloom_capacity * 2 ^ number
  local error = bloom_error * (number == 0 and 0.87 or 0.12 / 2 ^ number)
  local bits = math.ceil(-capacity * math.log(error) / math.log(2) ^ 2)
  local hashes = math.max(1, math.floor(bits / capacity * math.log(2) + 0.5))
  filter.layers[number + 1] = { bits, hashes, capacity, 0 }
  redis.call('SETBIT', layer_key(filter, number), bits - 1, 0) -- all at once: it grows by no more
end

-- Whether all bits of a fingerprint are set in a layer; `command` is GET, or SET to set them.
local function bits_are_set(filter, number, hash, step, command)
  local layer = filter.layers[number + 1]
  local parts = {}
  for i = 0, layer[HASHES] - 1 do
    parts[#parts + 1] = command
    parts[#parts + 1] = 'u1'
    parts[#parts + 1] = number_text((hash + i * step) % layer[BITS])
    if command == 'SET' then
      parts[#parts + 1] = 1
    end
  end
  for _, bit in ipairs(redis.call('BITFIELD', layer_key(filter, number), unpack(parts))) do
    if bit == 0 then
      return false
    end
  end
  return true
end

local function has_bloom(filter, hash, step, layers)
  for number = 0, layers - 1 do
    if bits_are_set(filter, number, hash, step, 'GET') then
      return true
    end
  end
  return false
end

local function add_bloom(filter, hash, step)
  local last = #filter.layers
  if last == 0 or filter.layers[last][TAKEN] >= filter.layers[last][CAPACITY] then
    if last > 0 and has_bloom(filter, hash, step, last) then
      return false
    end
    add_layer(filter)
    last = last + 1
  elseif has_bloom(filter, hash, step, last - 1) then
    return false
  end
  if bits_are_set(filter, last - 1, hash, step, 'SET') then
    return false
  end
  filter.layers[last][TAKEN] = filter.layers[last][TAKEN] + 1
  filter.is_changed = true
  return true
end

-- Either of them

local function is_seen_as(name, fingerprint, hash, step)
  if bloom_capacity > 0 then
    local filter = load_filter(name)
    return has_bloom(filter, hash, step, #filter.layers)
  end
  return has_exact(load_family(name), fingerprint)
end

local function is_seen(fingerprint, hash, step)
  return is_seen_as('data', fingerprint, hash, step) or is_seen_as('nav', fingerprint, hash, step)
end

-- Makes a fingerprint known; false if it was.
local function learn(kind, fingerprint, hash, step)
  if is_seen_as(KINDS[1 - kind], fingerprint, hash, step) then
    return false
  end
  if bloom_capacity > 0 then
    return add_bloom(load_filter(KINDS[kind]), hash, step)
  end
  return add_exact(load_family(KINDS[kind]), fingerprint)
end

local function save_seen()
  for name, family in pairs(families) do
    if family.urls > family.had_urls then
      redis.call('HSET', home_meta, 'urls_' .. name, family.urls, 'sets_' .. name, family.sets)
    end
  end
  for name, filter in pairs(filters) do
    if filter.is_changed then
      redis.call('HSET', home_meta, 'layers_' .. name, cmsgpack.pack(filter.layers))
    end
  end
end

local function forget_seen(name)
  local family, filter = load_family(name), load_filter(name)
  for number = 0, family.sets - 1 do
    redis.call('UNLINK', set_key(name, number))
  end
  for number = 0, #filter.layers - 1 do
    redis.call('UNLINK', layer_key(filter, number))
  end
  redis.call('HDEL', home_meta, 'urls_' .. name, 'sets_' .. name, 'layers_' .. name)
  families[name], filters[name] = nil, nil
end
