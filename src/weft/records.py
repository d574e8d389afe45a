"""What the engine and the frontier exchange, as plain values.

A `PackedRequest` is added, comes back inside a `Claim`, and ends as an `Outcome`.
"""

from enum import IntEnum, StrEnum

import msgspec


class PageKind(IntEnum):
    """The two kinds of pages, each with its own queues; data goes first."""

    NAV = 0
    DATA = 1


class Order(StrEnum):
    """The order in which a host's queue is served."""

    BFS = "bfs"
    DFS = "dfs"
    PRIORITY = "priority"
    RANDOM = "random"


class Picker(StrEnum):
    """How the bucket of a host is chosen."""

    #: By hash alone.
    DEFAULT = "default"
    #: By hash, unless that bucket is full: then the least loaded one.
    ADVANCED = "advanced"


class SeenKind(StrEnum):
    """How a shared frontier remembers the fingerprints that were ever queued."""

    EXACT = "exact"
    BLOOM = "bloom"


class Strategy(StrEnum):
    """How the buckets of a job are divided among its workers."""

    MODULO = "modulo"
    TWO_LEVEL = "two-level"
    WEIGHTED = "weighted"


class HostKey(StrEnum):
    """What requests that share a queue, a budget and a bucket have in common."""

    #: The host name.
    HOST = "host"
    #: The registrable domain, by the public suffix list.
    DOMAIN = "domain"
    #: The address that the host name had when it was first seen.
    IP = "ip"


class PackedRequest(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """A request as the frontier stores it; `payload` belongs to the engine and is opaque here."""

    fingerprint: int
    url: str
    #: Its host key; before that is known, on the way to the frontier, its host name.
    host: str
    kind: PageKind = PageKind.DATA
    priority: int = 0
    payload: bytes = b""
    #: Fingerprint of the page that the request was found on; 0: injected.
    found_on: int = 0
    #: Queue it even if it is known.
    is_forced: bool = False
    #: Not to be queued, only recorded as dropped by this rule.
    dropped_by: str = ""
    #: Where `explain` can find it too, if its fingerprint is not that of its URL.
    url_fingerprint: int = 0

    def is_known_as(self, fingerprint: int) -> bool:
        if self.url_fingerprint and fingerprint == self.url_fingerprint:
            return True
        return fingerprint == self.fingerprint


class AddStatus(StrEnum):
    """What `add` did with a request."""

    QUEUED = "queued"
    KNOWN = "known"
    BAD = "bad"
    DROPPED = "dropped"


class Claim(msgspec.Struct, frozen=True):
    """A request in the hands of a worker until it is finished, released or overdue."""

    token: int
    request: PackedRequest
    owner: str
    until_ms: int
    #: The minimum time between two fetches of this host.
    delay_ms: int


class Claims(msgspec.Struct, frozen=True):
    """What `claim` returns, and how soon it may be worth asking again."""

    claims: list[Claim]
    #: Relative, because the frontier's clock may differ; None: not before something changes.
    next_in_ms: int | None
    #: Hosts of these claims that other workers also send to: each request there takes a turn.
    shared_hosts: tuple[str, ...] = ()


class Visit(msgspec.Struct, frozen=True):
    """The state of a worker with regard to a host, and what it has learned about it."""

    host: str
    #: Requests that the host allows at a time.
    concurrency: int
    #: Its requests under way that took a turn there; all of its requests under way, once it knows
    #: that the host is shared.
    under_way: int = 0
    #: Turns that it got and has not used.
    unused: int = 0
    #: Further requests that wait for a turn.
    waiting: int = 0
    #: The sharing that it follows; 0: none.
    sharing: int = 0
    #: How long ago it last sent a request there; None: never.
    sent_ago_ms: int | None = None
    #: The worst status of an answer to a side request since the last visit; 0: there was none.
    status: int = 0
    retry_after_ms: int = 0
    crawl_delay_ms: int = 0


class Turns(msgspec.Struct, frozen=True):
    """The result of a visit: the right to send that many requests at once."""

    given: int
    #: When it may be worth asking for more; None: not before something changes.
    next_in_ms: int | None
    #: The number that identifies the current sharing of the host for all workers; 0: not shared.
    sharing: int
    #: How long the host must be left alone.
    pause_ms: int = 0


class Ending(IntEnum):
    """How a claim ended."""

    DONE = 0
    #: Retried or redirected: the request that replaces it is in the frontier.
    REPLACED = 1
    #: Given up; tried again when it is found again, after its time.
    FAILED = 2
    #: Refused by a rule, for example robots.txt.
    DROPPED = 3


class Outcome(msgspec.Struct, frozen=True):
    """What became of a claim, and what the fetch says about its host."""

    token: int
    ending: Ending
    #: HTTP status; 0: there was no response.
    status: int = 0
    note: str = ""
    retry_after_ms: int = 0
    crawl_delay_ms: int = 0
    #: The host does not exist: hold its requests until its time.
    is_host_bad: bool = False
    #: How long ago the last request was sent to its host; None: never.
    sent_ago_ms: int | None = None
    #: How many items of the page went to the sinks.
    items: int = 0
    #: It was sent, or may have been. If not, its host can be claimed from again at once.
    is_sent: bool = True
    #: The page is due again after this time; None: never.
    due_in_ms: int | None = None
    #: The request of that visit, with the fingerprint of this one; None: the same request.
    again: PackedRequest | None = None


class Fetch(msgspec.Struct, frozen=True, array_like=True):
    """One ended claim in the history of a URL."""

    at_ms: int
    ending: Ending
    status: int
    note: str = ""
    kind: PageKind = PageKind.DATA


class Stats(msgspec.Struct, array_like=True):
    """Counters of a frontier. `queued`, `held`, `claimed`, `hosts`, `parked` and `waiting` are
    levels, the rest only grow."""

    queued_nav: int = 0
    queued_data: int = 0
    #: Queued for bad hosts: kept, but no reason to continue the crawl.
    held: int = 0
    claimed: int = 0
    hosts: int = 0
    added: int = 0
    known: int = 0
    skipped_bad: int = 0
    dropped: int = 0
    done: int = 0
    replaced: int = 0
    failed: int = 0
    refused: int = 0
    released: int = 0
    reclaimed: int = 0
    stale: int = 0
    #: Waiting in compressed blocks until the queues of their hosts have drained.
    parked: int = 0
    #: Pages that are visited again when they are due; no reason to continue the crawl.
    waiting: int = 0

    @property
    def queued(self) -> int:
        return self.queued_nav + self.queued_data

    @property
    def pending(self) -> int:
        """What still has to be done; a crawl is finished when this is 0."""
        return self.queued - self.held + self.claimed + self.parked

    @property
    def is_all_done(self) -> bool:
        """Whether something was added, and nothing of it has to be done any more."""
        return self.added > 0 and self.pending == 0


class Hour(msgspec.Struct, frozen=True, array_like=True):
    """What was finished within an hour."""

    #: A full hour of UTC.
    start_ms: int
    #: Claims that were done.
    pages: int
    #: Items that went to the sinks from the pages of all claims that ended.
    items: int
    failed: int
    #: When the first and the last of these were finished.
    first_at_ms: int
    last_at_ms: int


class HostState(msgspec.Struct, frozen=True):
    """The budget of a host, for display."""

    host: str
    queued: int
    claimed: int
    next_at_ms: int
    delay_ms: int
    backoff: int
    bad_until_ms: int
    parked: int = 0


class SeenReport(msgspec.Struct, frozen=True):
    """How a shared frontier remembers the URLs that were ever queued."""

    kind: SeenKind
    urls: int
    #: Sets, or layers of Bloom filters.
    parts: int
    size_bytes: int
    #: For Bloom filters: the share of bits set, and of new URLs that are mistaken for known ones.
    fill: float | None = None
    error: float | None = None


class Explanation(msgspec.Struct, frozen=True):
    """Everything that a frontier knows about one URL."""

    fingerprint: int
    url: str = ""
    kind: PageKind | None = None
    seen_at_ms: int | None = None
    found_on: int = 0
    found_on_url: str = ""
    queued_kind: PageKind | None = None
    #: It waits in a compressed block.
    is_parked: bool = False
    claim: Claim | None = None
    host: HostState | None = None
    dropped_by: str = ""
    dropped_at_ms: int = 0
    bad_until_ms: int = 0
    fetches: tuple[Fetch, ...] = ()
    #: When the page is visited again; 0: it does not wait for that.
    due_at_ms: int = 0
    #: Of the request that is queued, claimed or waiting.
    payload: bytes = b""
