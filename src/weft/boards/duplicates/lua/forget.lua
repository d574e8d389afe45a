-- Forgets all articles.

if redis.call('UNLINK', articles, met) > 0 then
  for shard = 0, SHARDS - 1 do
    redis.call('UNLINK', marks_key(shard))
  end
end
return cmsgpack.pack(true)
