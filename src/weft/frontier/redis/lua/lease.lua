-- Keeps the lease of a bucket, or takes it if that is wanted and there is room for one more holder.
-- may_evict:  whether a lease that has run out may be taken from its holder
-- returns     the token of the lease (0: it is not ours), whether it is a new one, hosts that others
--             want turns of
--
-- A lease that has run out and that nobody has taken goes on. Who takes a bucket puts back all
-- claims of those who have no lease of it, in the same step: their outcomes come too late from then
-- on.

begin_writing()
local until_ms = now_ms + lease_ms
local mine = lease_of(owner)
if mine then
  save_lease(owner, mine[TOKEN], until_ms, mine[LAST_CALL])
  return cmsgpack.pack({ mine[TOKEN], false, redis.call('SMEMBERS', prefix .. 'called') })
end
if not is_wanted then
  return cmsgpack.pack({ 0, false })
end

local holders = { [owner] = true }
local many = 0
local found = redis.call('HGETALL', lease)
for i = 1, #found, 2 do
  if may_evict and cmsgpack.unpack(found[i + 1])[UNTIL] <= now_ms then
    redis.call('HDEL', lease, found[i])
  else
    holders[found[i]] = true
    many = many + 1
  end
end
if many >= workers_per_host then
  return cmsgpack.pack({ 0, false })
end

put_back_left(choose_groups(function(_, head)
  return holders[head[OWNER_NAME]] and {} or places_in(head[ALIVE])
end))
save_counters()

local token = next_number('lease')
redis.call('HSET', meta, 'lease', number_text(token))
save_lease(owner, token, until_ms, 0)
return cmsgpack.pack({ token, true })
