"""Values that configure a frontier; read once at the edge, then passed down."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from weft.records import HostKey, Order, Picker, SeenKind, Strategy

#: Time between two fetches of one host.
DEFAULT_DELAY_MS = 0
#: Fetches of one host at the same time, as in Scrapy.
DEFAULT_CONCURRENCY = 8
#: A claim that is not renewed for this long is given to another worker.
DEFAULT_CLAIM_MS = 120_000
#: A bucket whose worker is not heard of for this long is given to another.
DEFAULT_LEASE_MS = 10_000
#: First pause after a 429 or 503; doubles each time.
DEFAULT_BACKOFF_MS = 1_000
#: Longest pause that we choose ourselves.
DEFAULT_MAX_BACKOFF_MS = 600_000
#: Longest pause that a server can ask for with Retry-After or Crawl-delay.
DEFAULT_MAX_PAUSE_MS = 3_600_000
#: A URL that failed is tried again after this time.
DEFAULT_BAD_URL_MS = 24 * 3_600_000
#: A host that does not exist is tried again after this time.
DEFAULT_BAD_HOST_MS = 3_600_000
#: Workers that may hold requests of one host at a time.
DEFAULT_WORKERS_PER_HOST = 1
#: Partitions of the hosts of a job in a shared store.
DEFAULT_BUCKETS = 16
#: More partitions than this cost more than they gain.
MAX_BUCKETS = 65_536
#: Requests that a bucket keeps in its queues before it parks further ones.
DEFAULT_BUCKET_LIMIT = 1_000_000
#: URLs that a Bloom filter is made for; it grows if there are more.
DEFAULT_EXPECTED_URLS = 1_000_000
#: Share of new URLs that a Bloom filter may mistake for known ones.
DEFAULT_BLOOM_ERROR = 0.001
#: Places in the virtual table of the assignment `two-level`: the most workers there may ever be.
DEFAULT_VIRTUAL_NODES = 1_024


#: Requests under way in one worker, over all hosts. With many hosts, Scrapy's own default of 16 is
#: reached long before the limits of the hosts.
DEFAULT_CONCURRENT_REQUESTS = 128

#: Items go to this file in the job's directory unless WEFT_SINKS says otherwise.
DEFAULT_ITEMS = "items.db"
#: Where a job keeps its frontier and items, below the working directory.
DEFAULT_JOBS_DIR = Path(".weft")


class HostLimits(msgspec.Struct, frozen=True):
    """What a host allows."""

    delay_ms: int = DEFAULT_DELAY_MS
    concurrency: int = DEFAULT_CONCURRENCY
    #: Of a single host: workers that may have claims of it at a time; None: as many as of others,
    #: and never more.
    workers: int | None = None

    def strictest(self, other: "HostLimits") -> "HostLimits":
        """What both allow."""
        workers = [each for each in (self.workers, other.workers) if each is not None]
        return HostLimits(
            max(self.delay_ms, other.delay_ms),
            min(self.concurrency, other.concurrency),
            min(workers, default=None),
        )


class SharedConfig(msgspec.Struct, frozen=True):
    """How a job is laid out in a shared store, and whose it is; fixed when the job begins. An
    embedded store uses only the host key."""

    buckets: int = DEFAULT_BUCKETS
    bucket_limit: int = DEFAULT_BUCKET_LIMIT
    picker: Picker = Picker.DEFAULT
    assignment: Strategy = Strategy.WEIGHTED
    seen: SeenKind = SeenKind.EXACT
    expected_urls: int = DEFAULT_EXPECTED_URLS
    bloom_error: float = DEFAULT_BLOOM_ERROR
    virtual_nodes: int = DEFAULT_VIRTUAL_NODES
    host_key: HostKey = HostKey.HOST
    #: The project that the job belongs to; empty: none.
    project: str = ""


class FrontierConfig(msgspec.Struct, frozen=True):
    """How a frontier behaves."""

    order: Order = Order.BFS
    limits: HostLimits = HostLimits()
    #: Limits of single hosts, by host key. `Frontier.limit_hosts` changes them.
    limits_by_host: dict[str, HostLimits] = msgspec.field(default_factory=dict)
    claim_ms: int = DEFAULT_CLAIM_MS
    backoff_ms: int = DEFAULT_BACKOFF_MS
    max_backoff_ms: int = DEFAULT_MAX_BACKOFF_MS
    max_pause_ms: int = DEFAULT_MAX_PAUSE_MS
    bad_url_ms: int = DEFAULT_BAD_URL_MS
    bad_host_ms: int = DEFAULT_BAD_HOST_MS
    workers_per_host: int = DEFAULT_WORKERS_PER_HOST
    shared: SharedConfig = SharedConfig()

    @property
    def host_key(self) -> HostKey:
        return self.shared.host_key

    def limits_of(self, host: str) -> HostLimits:
        return self.limits_by_host.get(host, self.limits)

    def workers_of(self, host: str) -> int:
        own = self.limits_by_host.get(host)
        workers = own.workers if own else None
        return self.workers_per_host if workers is None else min(workers, self.workers_per_host)

    def limit_hosts(self, limits: Mapping[str, HostLimits | None]) -> None:
        for host, own in limits.items():
            if own is None:
                self.limits_by_host.pop(host, None)
            else:
                self.limits_by_host[host] = own


def job_name(name: str) -> str:
    """The name of a job in a shared store, from its directory. Braces have a meaning there."""
    return default_job_dir(name).name.translate(str.maketrans("{}", "()"))


def default_job_dir(name: str) -> Path:
    """Where a job lives unless the user says otherwise."""
    return DEFAULT_JOBS_DIR / (name.replace("/", "_").strip(".") or "job")
