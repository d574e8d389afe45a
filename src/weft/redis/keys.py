"""Every key that Weft has in Redis.

`weft:jobs` has the names of all jobs, `weft:nodes` those of all nodes. All other keys belong to one
job, and most of them to one bucket of it. The braces make Redis Cluster keep a bucket in one slot,
so that a script may touch all of its keys; with the picker `advanced` they hold the job only,
because that one moves hosts from bucket to bucket. No key expires.

key                           type    what
----------------------------  ------  ------------------------------------------------------
weft:jobs                     set     names of jobs
weft:nodes                    hash    node → what it tells about itself
weft:nodes:orders             hash    node → what it is to do
weft:{J}:job                  hash    format, shape, run, finished, clearing, number of known sets
weft:{J}:moved                hash    host → bucket, where it is not the one that its hash says
weft:{J}:keys                 hash    host name → its host key, where that was fixed
weft:{J}:order                hash    what the workers are to do, on what; epoch of their list
weft:{J}:members              hash    worker → its number and its seats
weft:{J}:heard                zset    workers by when they were last heard of
weft:{J}:status               hash    worker → what it tells about itself
weft:{J}:known:I              set     fingerprints of pages that were fetched elsewhere
weft:{J}:media                hash    file of a media pipeline → who downloads it, or its result
weft:{J:bN}:meta              hash    counters of the bucket, last token, sizes of the seen sets
weft:{J:bN}:hours             hash    hour since 1970 → its pages, items, failures
weft:{J:bN}:hosts             hash    host → its record (packed by common.lua)
weft:{J:bN}:ready             zset    hosts that can be claimed, by the time from which on
weft:{J:bN}:visitors          hash    host → the workers that take turns of it (see visitors.lua)
weft:{J:bN}:called            set     hosts of which their owners shall take turns as well
weft:{J:bN}:queue:K:HOST      list    requests of a host and page kind (a set for `random`)
weft:{J:bN}:queue:K:P:HOST    list    … of one priority, for the order `priority`
weft:{J:bN}:levels:K:HOST     zset    the priorities that such a queue has
weft:{J:bN}:lease             hash    worker that may claim → its lease (see claims.lua)
weft:{J:bN}:claims            hash    first token of a group of claims → what they have in common
weft:{J:bN}:batches           hash    batch of claims, by its tokens → how many of them are left
weft:{J:bN}:claimed:M:N       list    the packed requests of the batch
weft:{J:bN}:due               zset    batches of tokens, and renewed tokens, by their deadline
weft:{J:bN}:seen:F:I          set     fingerprints as integers, few in each: it stays an array
weft:{J:bN}:bloom:F:I         string  bits of a layer of a Bloom filter
weft:{J:bN}:bad               hash    fingerprint → when a failed URL is taken again
weft:{J:bN}:spill:K:HOST      list    requests that are parked, not yet in a block
weft:{J:bN}:blocks:K:HOST     list    compressed blocks of parked requests
weft:{J:bN}:hungry            set     hosts whose parked requests are wanted
weft:{J:bN}:stories:F         list    what became of requests, a compressed chunk for each batch
weft:{J:bN}:history:F         list    the same, in bigger chunks

J is the name of a job, N the number of a bucket, K a page kind (`nav` or `data`), F a page kind or
`dropped`, P a priority, I a number.
"""

import re

JOBS = "weft:jobs"
NODES = "weft:nodes"
NODE_ORDERS = "weft:nodes:orders"

_KIND = "(nav|data)"
_FAMILY = "(nav|data|dropped)"
_OF_BUCKET = "|".join(
    (
        "meta|hours|hosts|ready|visitors|called|lease|claims|batches|due|bad|hungry",
        r"claimed:\d+:\d+",
        rf"queue:{_KIND}:(-?\d+:)?.*",
        rf"(levels|spill|blocks):{_KIND}:.*",
        rf"(seen|bloom):{_FAMILY}:\d+",
        rf"(stories|history):{_FAMILY}",
    )
)
_SCHEMA = re.compile(
    rf"weft:(jobs|nodes|nodes:orders|\{{[^{{}}]+\}}:(job|moved|keys|order|members|heard|status|media|known:\d+)|(\{{[^{{}}]+:b\d+\}}|\{{[^{{}}]+\}}:b\d+):({_OF_BUCKET}))",
    re.DOTALL,
)


def job_prefix(job: str) -> str:
    return f"weft:{{{job}}}:"


def bucket_prefix(job: str, bucket: int, *, is_one_slot: bool) -> str:
    """What the names of all keys of a bucket start with; `is_one_slot`: those of all buckets share
    a slot of Redis Cluster."""
    return f"weft:{{{job}}}:b{bucket}:" if is_one_slot else f"weft:{{{job}:b{bucket}}}:"


def is_ours(key: str) -> bool:
    """Whether a key fits the table above."""
    return _SCHEMA.fullmatch(key) is not None
