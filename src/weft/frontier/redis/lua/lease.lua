-- Keeps the lease of a bucket, or takes it if that is wanted and there is room for one more holder.
-- may_evict:  whether a lease that has run out may be taken from its holder
-- returns     the token of the lease (0: it is not ours), whether it is a new one, hosts that others
--             want turns of
--
-- Who takes a bucket puts back all claims of those who have no lease of it, in the same step: their
-- outcomes come too late from then on.

begin_writing()
local kept = keep_lease(owner, lease_ms)
if kept then
  return cmsgpack.pack({ kept, false, redis.call('SMEMBERS', prefix .. 'called') })
end
local holders = is_wanted and make_room(workers_per_host, may_evict)
if not holders then
  return cmsgpack.pack({ 0, false })
end
put_back_left(choose_groups(function(_, head)
  local is_kept = holders[head[OWNER_NAME]] or head[OWNER_NAME] == owner
  return is_kept and {} or places_in(head[ALIVE])
end))
save_counters()
return cmsgpack.pack({ take_lease(owner, lease_ms), true })
