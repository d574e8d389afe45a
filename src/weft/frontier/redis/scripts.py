"""The doors of the Lua scripts: what each verb is given and what it answers, for one bucket."""

import msgspec

from weft.redis.script import Script


class BucketConfig(msgspec.Struct, frozen=True, array_like=True):
    """What stays the same from call to call."""

    order: str
    delay_ms: int
    concurrency: int
    #: Delay, concurrency, workers.
    limits_by_host: dict[str, tuple[int, int, int]]
    claim_ms: int
    backoff_ms: int
    max_backoff_ms: int
    max_pause_ms: int
    bad_url_ms: int
    bad_host_ms: int
    workers_per_host: int
    bucket_limit: int
    #: Requests that a host may have in its queue however full the bucket is.
    host_floor: int
    #: Parked requests that make a block.
    block_size: int
    #: 0: seen sets are exact.
    bloom_capacity: int
    bloom_error: float
    picker: str
    job_prefix: str
    #: Prefixes of all buckets, for the picker `advanced`.
    buckets: list[str]


class Add(msgspec.Struct, frozen=True, array_like=True):
    now_ms: int
    home: str
    #: Host, kind, level.
    groups: list[tuple[str, int, str]]
    #: Group, fingerprint, hash, step, flag; five for each. Blobs: the packed requests.
    requests: list[object]


class Added(msgspec.Struct, frozen=True, array_like=True):
    letters: str
    #: Queues whose parked requests fill a block: kind, host.
    blocks: list[tuple[int, str]]


class Lease(msgspec.Struct, frozen=True, array_like=True):
    now_ms: int
    owner: str
    lease_ms: int
    #: Take it, if it is free; or else only keep it.
    is_wanted: bool
    #: A lease that has run out may be taken from its holder.
    may_evict: bool


class GiveUp(msgspec.Struct, frozen=True, array_like=True):
    now_ms: int
    owner: str
    #: 0: whichever it is.
    lease_token: int


class Leased(msgspec.Struct, frozen=True, array_like=True):
    #: 0: it is not ours.
    token: int
    is_new: bool
    #: Hosts that others want turns of.
    called: list[str] = []


class ClaimCall(msgspec.Struct, frozen=True, array_like=True):
    now_ms: int
    owner: str
    #: The token of the lease that the owner must have; 0: none.
    lease_token: int
    #: Grows from call to call.
    call: int
    limit: int
    #: How many owners share a host that more than one may have.
    sharers: int
    #: Of the pages that wait, those come back that have been due for so long.
    due_for_ms: int


class Claimed(msgspec.Struct, frozen=True, array_like=True):
    """Blobs: the packed requests, the heads of the groups that they are in, and blocks."""

    #: The owner has the lease.
    is_allowed: bool
    #: -1: not before something changes.
    next_in_ms: int
    until_ms: int
    hungry: list[str]
    #: The others follow.
    first_token: int
    #: Of the host of each group.
    delays_ms: list[int]
    #: Hosts that others send to as well.
    shared_hosts: list[str] = []
    #: Names of blocks of waiting pages that are to be opened: the last blobs.
    blocks: list[str] = []


#: Host, home, concurrency, under way, unused, waiting, sharing, sent ago (-1: never), status, retry
#: after, Crawl-delay.
PackedVisit = tuple[str, str, int, int, int, int, int, int, int, int, int]


class VisitCall(msgspec.Struct, frozen=True, array_like=True):
    now_ms: int
    owner: str
    keep_ms: int
    visits: list[PackedVisit]


class Visited(msgspec.Struct, frozen=True, array_like=True):
    #: -1: the host has another bucket.
    given: int
    #: -1: not before something changes.
    next_in_ms: int
    sharing: int
    pause_ms: int


class Groups(msgspec.Struct, frozen=True, array_like=True):
    now_ms: int
    #: Name of a group of claims, and a text with a 1 for each place in it that is meant.
    groups: list[tuple[str, str]]
    #: So many more are no claims.
    stale: int


class Renew(msgspec.Struct, frozen=True, array_like=True):
    now_ms: int
    owner: str
    #: As in `Groups`.
    groups: list[tuple[str, str]]
    stale: int


class Renewed(msgspec.Struct, frozen=True, array_like=True):
    #: For each group a text with a 1 for each place that is a claim of the owner.
    alive: list[str]
    #: How many claims in the name of the owner were put back.
    put_back: int


class Finish(msgspec.Struct, frozen=True, array_like=True):
    """Blobs: a chunk of stories for nav and one for data, the same of pages that wait from now on
    (empty: none); then these pages."""

    now_ms: int
    #: Name of a group of claims; places in it; outcomes, three numbers for those that are alike:
    #: ending * 1000 + status, and 10000 more if it was not sent; how long ago the last request was
    #: sent to the host (-1: none was); how many they are.
    groups: list[tuple[str, str, list[int]]]
    #: What more there is to say of an outcome: number of its group, and where its three numbers
    #: begin (both from 1); place, fingerprint if its URL is bad now, retry after, Crawl-delay, name
    #: of the host if that does not exist.
    extras: list[tuple[int, int, int, str, int, int, str]]
    stale: int
    #: Of the pages of them all.
    items: int
    #: How soon each page is due again; 0: it goes to the end of its queue at once.
    waits: list[int]
    #: Pages that are due within this time stay alone.
    far_ms: int


class Finished(msgspec.Struct, frozen=True, array_like=True):
    #: If nothing was done, for each group a text with a 1 for each place that is a claim.
    alive: list[str]
    #: How many chunks there are now, of each family; empty: nothing was done.
    chunks: list[int]
    now_ms: int = 0
    #: Of pages that wait, those that are alone though they are due after `far_ms`; and all.
    alone: int = 0
    waiting: int = 0


class Reclaim(msgspec.Struct, frozen=True, array_like=True):
    now_ms: int
    limit: int


class Unpark(msgspec.Struct, frozen=True, array_like=True):
    """Blobs: the first and the last element that are taken; then the packed requests."""

    now_ms: int
    host: str
    kind: int
    source: str
    #: How many elements of the source are taken.
    length: int
    #: How many requests each level has.
    levels: list[tuple[str, int]]


class Compact(msgspec.Struct, frozen=True, array_like=True):
    """Blobs: the first and the last element that are replaced, and the block."""

    #: Ends of keys.
    source: str
    target: str
    length: int
    #: So many of the blocks are kept, the latest; 0: all.
    kept: int = 0


class Rearrange(msgspec.Struct, frozen=True, array_like=True):
    """Blobs: the pages that are taken; those that are put; the blocks that are put."""

    now_ms: int
    #: Blocks that are taken.
    names: list[str]
    #: When each page that is taken is due.
    taken: list[int]
    #: When each page that is put is due.
    times: list[int]
    #: Name of each block that is put, and when it is to be opened.
    blocks: list[tuple[str, int]]


class Clear(msgspec.Struct, frozen=True, array_like=True):
    now_ms: int
    home: str
    #: -1: everything.
    kind: int
    #: Fingerprint, hash, step; three for each.
    kept: list[object]


_PACKAGE = "weft.frontier.redis.lua"
_BASICS = ("basics",)
_LEASES = ("basics", "leases")
_CLAIMS = ("common", "queue", "claims")

ADD = Script(
    _PACKAGE,
    ("common", "queue", "seen", "picker", "add"),
    BucketConfig,
    Add,
    Added,
    libraries=_BASICS,
)
LEASE = Script(_PACKAGE, (*_CLAIMS, "lease"), BucketConfig, Lease, Leased, libraries=_LEASES)
GIVE_UP = Script(_PACKAGE, ("give_up",), BucketConfig, GiveUp, bool, libraries=_LEASES)
CLAIM = Script(
    _PACKAGE,
    (*_CLAIMS, "waiting", "visitors", "claim"),
    BucketConfig,
    ClaimCall,
    Claimed,
    libraries=_LEASES,
)
VISIT = Script(
    _PACKAGE,
    ("common", "picker", "visitors", "visit"),
    BucketConfig,
    VisitCall,
    list[Visited],
    libraries=_BASICS,
)
RENEW = Script(_PACKAGE, (*_CLAIMS, "renew"), BucketConfig, Renew, Renewed, libraries=_BASICS)
FINISH = Script(
    _PACKAGE,
    (*_CLAIMS, "waiting", "picker", "finish"),
    BucketConfig,
    Finish,
    Finished,
    libraries=_BASICS,
)
RELEASE = Script(
    _PACKAGE, (*_CLAIMS, "release"), BucketConfig, Groups, list[str], libraries=_BASICS
)
RECLAIM = Script(
    _PACKAGE, (*_CLAIMS, "reclaim"), BucketConfig, Reclaim, tuple[int, bool], libraries=_BASICS
)
UNPARK = Script(
    _PACKAGE, ("common", "queue", "unpark"), BucketConfig, Unpark, bool, libraries=_BASICS
)
COMPACT = Script(_PACKAGE, ("compact",), BucketConfig, Compact, bool)
REARRANGE = Script(
    _PACKAGE,
    ("common", "queue", "waiting", "rearrange"),
    BucketConfig,
    Rearrange,
    bool,
    libraries=_BASICS,
)
CLEAR = Script(
    _PACKAGE,
    ("common", "queue", "waiting", "seen", "clear"),
    BucketConfig,
    Clear,
    bool,
    libraries=_BASICS,
)

SOURCES = {
    script.sha: script.source
    for script in (
        ADD,
        LEASE,
        GIVE_UP,
        CLAIM,
        VISIT,
        RENEW,
        FINISH,
        RELEASE,
        RECLAIM,
        UNPARK,
        COMPACT,
        REARRANGE,
        CLEAR,
    )
}
