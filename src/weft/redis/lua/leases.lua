-- Leases: the right to a bucket or a duty, until a time. Under the prefix of what is leased, `lease`
-- has its holders: owner → token, until when, and the number of the last call that was made under it
-- (a call may arrive late, after its owner has given it up and made another). `meta` has the last
-- token.
--
-- A lease that has run out goes on until another takes it. Each new lease has a token that is greater
-- than all before, whatever became of their holders: what comes with the token of an earlier lease
-- comes too late. Needs basics.lua.

local lease = prefix .. 'lease'
local TOKEN, UNTIL, LAST_CALL = 1, 2, 3

local function lease_of(owner)
  local packed = redis.call('HGET', lease, owner)
  return packed and cmsgpack.unpack(packed)
end

local function save_lease(owner, token, until_ms, last_call)
  redis.call('HSET', lease, owner, cmsgpack.pack({ token, until_ms, last_call }))
end

-- The fence: the lease of the owner, if it is the one with this token and has not run out.
local function valid_lease(owner, token)
  local mine = lease_of(owner)
  return mine and mine[TOKEN] == token and mine[UNTIL] > now_ms and mine
end

-- Keeps the lease of the owner, if it has one; its token.
local function keep_lease(owner, lease_ms)
  local mine = lease_of(owner)
  if mine then
    save_lease(owner, mine[TOKEN], now_ms + lease_ms, mine[LAST_CALL])
    return mine[TOKEN]
  end
end

-- Makes room for one more holder, if there may be `most`: those who have leases, as a set; nil if
-- there is no room. may_evict: whether a lease that has run out is taken from its holder.
local function make_room(most, may_evict)
  local holders, many = {}, 0
  local found = redis.call('HGETALL', lease)
  for i = 1, #found, 2 do
    if may_evict and cmsgpack.unpack(found[i + 1])[UNTIL] <= now_ms then
      redis.call('HDEL', lease, found[i])
    else
      holders[found[i]] = true
      many = many + 1
    end
  end
  return many < most and holders or nil
end

-- Gives the owner a new lease, for which there is room; its token.
local function take_lease(owner, lease_ms)
  local token = next_number('lease')
  redis.call('HSET', meta, 'lease', number_text(token))
  save_lease(owner, token, now_ms + lease_ms, 0)
  return token
end

-- Gives a lease up, if it is still the one with this token (0: whichever it is): a call may arrive
-- late, when its owner has a new one.
local function give_up_lease(owner, token)
  local mine = lease_of(owner)
  if mine and (token == 0 or mine[TOKEN] == token) then
    redis.call('HDEL', lease, owner)
  end
end
