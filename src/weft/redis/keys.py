"""Every key that Weft uses in Redis.

`weft:jobs` has the names of all jobs, `weft:boards` those of jobs with boards, `weft:nodes` those
of all nodes; `weft:duties:…` say who has the duties of the control plane, `weft:tokens` and
`weft:audit` who may use it and what they changed. All other keys belong to one job, most of them
to one bucket of it.
The braces make Redis Cluster keep a bucket or a duty in one slot, so that a script may touch all
of its keys. With the picker `advanced` they contain only the job, because that picker moves hosts
between buckets. No key expires.

key                           type    what
----------------------------  ------  ------------------------------------------------------
weft:jobs                     set     names of jobs
weft:boards                   set     names of all jobs that have, or had, boards
weft:nodes                    hash    node → what it reports about itself
weft:nodes:commands           hash    node → what it has to do
weft:tokens                   hash    name → digest of the token, its scope, when it was made
weft:audit                    hash    number → who changed what, and when; the latest 10,000
weft:audit:last               string  the number of the latest
weft:duties:{D}:lease         hash    master that has the duty → its lease (see leases.lua)
weft:duties:{D}:meta          hash    the last token of its leases
weft:{J}:job                  hash    format, shape, run, finished, clearing, number of known sets
weft:{J}:moved                hash    host → bucket, if it is not the one that its hash gives
weft:{J}:keys                 hash    host name → its host key, if that was fixed
weft:{J}:order                hash    what the workers have to do, on what; epoch of their list
weft:{J}:members              hash    worker → its number and its seats
weft:{J}:heard                zset    workers by when they were last heard of
weft:{J}:status               hash    worker → what it reports about itself
weft:{J}:known:I              set     fingerprints of pages that were fetched elsewhere
weft:{J}:media                hash    file of a media pipeline → who downloads it, or its result
weft:{J}:boards               hash    board → what it says, its file, its state (see boards.lua)
weft:{J}:boards:revision      string  changes whenever a board does
weft:{J}:boards:active        hash    board → when something was last reported of it
weft:{J}:boards:noted         hash    process → its last report, and when
weft:{J}:board:B:counts       hash    what happened → how often
weft:{J}:board:B:votes        hash    URL shape → its articles, its lists, when it was reported
weft:{J}:board:B:problems     zset    page and problem, by when it was reported
weft:{J}:duplicates           hash    article → what is remembered of it (see articles.lua)
weft:{J}:duplicates:met       zset    articles by when they were last met
weft:{J}:duplicates:marks:I   hash    mark → articles that have it
weft:{J:bN}:meta              hash    counters of the bucket, last token, sizes of the seen sets
weft:{J:bN}:hours             hash    hour since 1970 → its pages, items, failures
weft:{J:bN}:hosts             hash    host → its record (packed by common.lua)
weft:{J:bN}:ready             zset    hosts that can be claimed, by the time from when
weft:{J:bN}:visitors          hash    host → the workers that take turns of it (see visitors.lua)
weft:{J:bN}:called            set     hosts whose owners have to take turns too
weft:{J:bN}:queue:K:HOST      list    requests of a host and page kind (a set for `random`)
weft:{J:bN}:queue:K:P:HOST    list    … of one priority, for the order `priority`
weft:{J:bN}:levels:K:HOST     zset    the priorities that such a queue has
weft:{J:bN}:lease             hash    worker that may claim → its lease (see leases.lua)
weft:{J:bN}:claims            hash    first token of a group of claims → what they have in common
weft:{J:bN}:batches           hash    batch of claims, by its tokens → how many of them are left
weft:{J:bN}:claimed:M:N       list    the packed requests of the batch
weft:{J:bN}:due               zset    batches of tokens, and renewed tokens, by their deadline
weft:{J:bN}:seen:F:I          set     fingerprints as integers, few in each: it stays an array
weft:{J:bN}:bloom:F:I         string  bits of a layer of a Bloom filter
weft:{J:bN}:bad               hash    fingerprint → when a failed URL is tried again
weft:{J:bN}:spill:K:HOST      list    requests that are parked, not yet in a block
weft:{J:bN}:blocks:K:HOST     list    compressed blocks of parked requests
weft:{J:bN}:hungry            set     hosts whose parked requests are wanted
weft:{J:bN}:waiting           zset    pages that wait until they are due, and names of blocks of
                                      them, by when they are wanted (see waiting.lua)
weft:{J:bN}:later             hash    name → compressed block of pages that wait
weft:{J:bN}:waits             hash    page kind and host → how many pages wait, if hosts move
weft:{J:bN}:stories:F         list    what became of requests, a compressed chunk for each batch
weft:{J:bN}:history:F         list    the same, in bigger chunks
weft:{J:bN}:visits:K          list    the same of pages that waited after it: the last visits
weft:{J:bN}:visited:K         list    the same, in bigger chunks

D is the name of a duty, J that of a job, N the number of a bucket, K a page kind (`nav` or `data`),
F a page kind or `dropped`, P a priority, I a number, B the name of a board.

Each key has an owner, and nobody else reads or writes it:

jobs, job                   redis/jobs.py, which also forgets what a job has outside of buckets
order                       cluster/jobs.py; the epoch in it belongs to the members
members, heard, status      cluster/membership.py, and cluster/workers.py for others than members
nodes, media, duties,
tokens, audit               the modules of cluster/ with these names
boards, board               boards/store/redis.py
duplicates                  boards/duplicates/redis.py
all others                  frontier/redis
"""

import re

JOBS = "weft:jobs"
#: The names of all jobs that have, or had, boards.
BOARDS = "weft:boards"
NODES = "weft:nodes"
NODE_COMMANDS = "weft:nodes:commands"
TOKENS = "weft:tokens"
AUDIT = "weft:audit"
AUDIT_LAST = "weft:audit:last"

_KIND = "(nav|data)"
_FAMILY = "(nav|data|dropped)"
_OF_BUCKET = "|".join(
    (
        "meta|hours|hosts|ready|visitors|called|lease|claims|batches|due|bad|hungry",
        "waiting|later|waits",
        r"claimed:\d+:\d+",
        rf"queue:{_KIND}:(-?\d+:)?.*",
        rf"(levels|spill|blocks):{_KIND}:.*",
        rf"(seen|bloom):{_FAMILY}:\d+",
        rf"(stories|history):{_FAMILY}",
        rf"(visits|visited):{_KIND}",
    )
)
#: What a job has outside of buckets, by what is forgotten together. Of its crawl:
CRAWL_KEYS = ("moved", "keys", "media")
#: Of its workers:
WORKER_KEYS = ("members", "heard", "status")
#: Of its boards, which stay when its crawl starts over, unlike what was reported of them:
_OF_BOARDS = r"boards(:(revision|active|noted))?|board:[\w.-]+:(counts|votes|problems)"
#: Of its articles, which are forgotten together with its items:
_OF_ARTICLES = r"duplicates(:met|:marks:\d+)?"
_OF_JOB = "|".join(("job|order", _OF_BOARDS, _OF_ARTICLES, *CRAWL_KEYS, *WORKER_KEYS, r"known:\d+"))
_SCHEMA = re.compile(
    r"weft:(jobs|boards|nodes|nodes:commands|tokens|audit|audit:last"
    r"|duties:\{[^{}]+\}:(lease|meta)"
    rf"|\{{[^{{}}]+\}}:({_OF_JOB})"
    rf"|(\{{[^{{}}]+:b\d+\}}|\{{[^{{}}]+\}}:b\d+):({_OF_BUCKET}))",
    re.DOTALL,
)


def job_prefix(job: str) -> str:
    return f"weft:{{{job}}}:"


def duty_prefix(duty: str) -> str:
    """The prefix of all keys of a duty."""
    return f"weft:duties:{{{duty}}}:"


def bucket_prefix(job: str, bucket: int, *, is_one_slot: bool) -> str:
    """The prefix of all keys of a bucket. `is_one_slot`: the keys of all buckets share a slot of
    Redis Cluster."""
    return f"weft:{{{job}}}:b{bucket}:" if is_one_slot else f"weft:{{{job}:b{bucket}}}:"


def is_ours(key: str) -> bool:
    """Whether a key matches the table above."""
    return _SCHEMA.fullmatch(key) is not None
