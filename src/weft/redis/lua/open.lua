-- Makes the job, if there is none.
-- returns run and format of the job; blob: its shape

local job = prefix .. 'job'
redis.call('HSETNX', job, 'run', run)
redis.call('HSETNX', job, 'shape', blob(1))
redis.call('HSETNX', job, 'format', format)
return { cmsgpack.pack(redis.call('HMGET', job, 'run', 'format')), redis.call('HGET', job, 'shape') }
