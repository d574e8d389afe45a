"""Scrapy's settings, read once into the values that the parts of a crawl are given."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from scrapy.settings import BaseSettings

from weft.config import (
    DEFAULT_BLOOM_ERROR,
    DEFAULT_BUCKET_LIMIT,
    DEFAULT_BUCKETS,
    DEFAULT_CLAIM_MS,
    DEFAULT_EXPECTED_URLS,
    DEFAULT_LEASE_MS,
    DEFAULT_VIRTUAL_NODES,
    DEFAULT_WORKERS_PER_HOST,
    FrontierConfig,
    HostLimits,
    SharedConfig,
    default_job_dir,
)
from weft.engine.hostkeys import domain_of
from weft.engine.http.resolver import is_address
from weft.engine.markup import DEFAULT_LIMITS, PageLimits
from weft.engine.reader import Reader
from weft.engine.scrapyparts import ScrapyPart
from weft.errors import ConfigError
from weft.frontier import Frontier, Store, parse_store
from weft.records import HostKey, Order, Picker, SeenKind, Strategy
from weft.sinks.archive import is_archive
from weft.sinks.base import Schema, SinkConfig

#: Items go into this file of the job's directory unless WEFT_SINKS says otherwise.
DEFAULT_ITEMS = "items.db"
#: Requests under way in one worker, over all hosts. With many hosts Scrapy's own default of 16 is
#: the limit long before the hosts are.
DEFAULT_CONCURRENT_REQUESTS = 128
#: Claims of a host without delay, as a multiple of its concurrency.
CLAIMS_AHEAD = 4
#: How long a crawl that is told to stop waits for what is under way.
DEFAULT_CLOSE_S = 2
#: More partitions than this cost more than they bring.
MAX_BUCKETS = 65_536

#: Every setting of Weft with its default; what each does stands in `docs/settings.md`.
SETTINGS: Mapping[str, Any] = {
    "WEFT_ENABLED": True,
    "WEFT_STORE": "",
    "WEFT_JOB": "",
    "WEFT_ORDER": "priority",
    "WEFT_HOST_KEY": "host",
    "WEFT_SINKS": None,
    "WEFT_SCHEMA": "open",
    "WEFT_ITEM_KEY": [],
    "WEFT_FINGERPRINT_HEADERS": [],
    "WEFT_MAX_PAGES": 0,
    "WEFT_MAX_PAGE_BYTES": DEFAULT_LIMITS.max_bytes,
    "WEFT_MAX_PAGE_TAGS": DEFAULT_LIMITS.max_tags,
    "WEFT_MAX_PAGE_DEPTH": DEFAULT_LIMITS.max_depth,
    "WEFT_MAX_PAGE_ATTRIBUTES": DEFAULT_LIMITS.max_attributes,
    "WEFT_FRESH": False,
    "WEFT_RERUN": True,
    "WEFT_SCRAPY_PARTS": [],
    "WEFT_WORKERS_PER_HOST": DEFAULT_WORKERS_PER_HOST,
    "WEFT_CLAIM_TIMEOUT": DEFAULT_CLAIM_MS // 1000,
    "WEFT_LEASE_TIMEOUT": DEFAULT_LEASE_MS // 1000,
    "WEFT_CLOSE_TIMEOUT": DEFAULT_CLOSE_S,
    "WEFT_WEIGHT": 0,
    "WEFT_NODE": "",
    "WEFT_ASSIGNMENT": "weighted",
    "WEFT_VIRTUAL_NODES": DEFAULT_VIRTUAL_NODES,
    "WEFT_BUCKETS": DEFAULT_BUCKETS,
    "WEFT_BUCKET_LIMIT": DEFAULT_BUCKET_LIMIT,
    "WEFT_PICKER": "default",
    "WEFT_SEEN": "exact",
    "WEFT_EXPECTED_URLS": DEFAULT_EXPECTED_URLS,
    "WEFT_BLOOM_ERROR": DEFAULT_BLOOM_ERROR,
}


class JobConfig(msgspec.Struct, frozen=True):
    """How one job runs."""

    #: Where its frontier lives.
    store: Store
    #: Its name in a shared store.
    job: str
    #: What it keeps on this machine: its items by default, and the frontier if that is embedded.
    job_dir: Path
    frontier: FrontierConfig
    #: Requests under way at a time, over all hosts.
    concurrency: int
    #: What hosts allow, by host key; the frontier may hand out more claims than that, see
    #: `_claimable`.
    limits: HostLimits
    limits_by_host: Mapping[str, HostLimits]
    #: A worker that is not heard of for so long loses its buckets.
    lease_s: float
    #: How long to wait for what is under way when the crawl is told to stop.
    close_s: float
    #: How much of the work this worker takes beside others; 0: by what is measured.
    weight: float
    #: The node that started this worker.
    node: str
    #: Where items go.
    sinks: tuple[str, ...]
    #: Where raw pages go.
    archives: tuple[str, ...]
    sink: SinkConfig
    item_key: tuple[str, ...]
    fingerprint_headers: tuple[str, ...]
    max_pages: int
    #: What is parsed.
    page_limits: PageLimits
    is_fresh: bool
    is_rerun: bool
    #: Where Scrapy's own parts are used instead of ours.
    scrapy_parts: frozenset[ScrapyPart]

    def limits_of(self, host: str) -> HostLimits:
        return self.limits_by_host.get(host, self.limits)


def read_settings(settings: BaseSettings, spider_name: str) -> JobConfig:
    """All problems are told at once."""
    read = Reader(settings)
    limits = HostLimits(round(read.number("DOWNLOAD_DELAY") * 1000), _concurrency(read))
    host_key = read.choice("WEFT_HOST_KEY", HostKey)
    by_host = _limits_by_key(read, _limits_by_host(read, limits), host_key)
    name = read.text("WEFT_JOB") or spider_name
    own_dir = Path(read.text("JOBDIR") or default_job_dir(name))
    store = _store(read, own_dir)
    job_dir = store.directory or own_dir
    outputs = None if settings.get("WEFT_SINKS") is None else read.names("WEFT_SINKS")
    config = JobConfig(
        store=store,
        job=job_name(name),
        job_dir=job_dir,
        frontier=_frontier(read, limits, by_host, host_key),
        # Scrapy's 0 means no limit.
        concurrency=int(read.number("CONCURRENT_REQUESTS")) or DEFAULT_CONCURRENT_REQUESTS,
        limits=limits,
        limits_by_host=by_host,
        lease_s=read.number("WEFT_LEASE_TIMEOUT", least=1),
        close_s=read.number("WEFT_CLOSE_TIMEOUT"),
        weight=read.number("WEFT_WEIGHT"),
        node=read.text("WEFT_NODE"),
        sinks=_sinks(outputs, job_dir),
        archives=tuple(filter(is_archive, outputs or ())),
        sink=SinkConfig(
            job_dir=job_dir,
            job=job_name(name),
            is_shared=store.is_shared,
            is_strict=read.choice("WEFT_SCHEMA", Schema) is Schema.STRICT,
        ),
        item_key=read.names("WEFT_ITEM_KEY"),
        fingerprint_headers=read.names("WEFT_FINGERPRINT_HEADERS"),
        max_pages=int(read.number("WEFT_MAX_PAGES")),
        page_limits=_page_limits(read),
        is_fresh=read.flag("WEFT_FRESH"),
        is_rerun=read.flag("WEFT_RERUN"),
        scrapy_parts=read.choices("WEFT_SCRAPY_PARTS", ScrapyPart),
    )
    problems = [*read.problems, *_unfit_for_store(config), *_unknown_settings(settings)]
    if problems:
        raise ConfigError("\n".join(problems))
    return config


def check_host_key(frontier: Frontier, config: JobConfig) -> None:
    """Raises ConfigError if the job was begun with other host keys: budgets would not be kept."""
    wanted, found = config.frontier.host_key, frontier.host_key
    if wanted is not found:
        raise ConfigError(
            f"the job {config.job} was begun with WEFT_HOST_KEY = {str(found)!r}, and here it is "
            f"{str(wanted)!r}; set it to {str(found)!r}, start over with --fresh (WEFT_FRESH), or "
            "choose another job with --job"
        )


def job_name(name: str) -> str:
    """The name of a job in a shared store: that of its directory. Braces mean something there."""
    return default_job_dir(name).name.translate(str.maketrans("{}", "()"))


def _page_limits(read: Reader) -> PageLimits:
    return PageLimits(
        max_bytes=int(read.number("WEFT_MAX_PAGE_BYTES")),
        max_tags=int(read.number("WEFT_MAX_PAGE_TAGS")),
        max_depth=int(read.number("WEFT_MAX_PAGE_DEPTH")),
        max_attributes=int(read.number("WEFT_MAX_PAGE_ATTRIBUTES")),
    )


def _store(read: Reader, own_dir: Path) -> Store:
    embedded = Store(f"rocks://{own_dir}", own_dir)
    try:
        return parse_store(text) if (text := read.text("WEFT_STORE")) else embedded
    except ConfigError as error:
        read.problems.append(f"WEFT_STORE: {error}")
        return embedded


def _frontier(
    read: Reader, limits: HostLimits, by_host: Mapping[str, HostLimits], host_key: HostKey
) -> FrontierConfig:
    workers = read.whole("WEFT_WORKERS_PER_HOST")
    return FrontierConfig(
        order=read.choice("WEFT_ORDER", Order),
        limits=_claimable(limits, workers),
        limits_by_host={host: _claimable(own, workers) for host, own in by_host.items()},
        claim_ms=round(read.number("WEFT_CLAIM_TIMEOUT", least=1) * 1000),
        workers_per_host=workers,
        shared=SharedConfig(
            buckets=read.whole("WEFT_BUCKETS", most=MAX_BUCKETS),
            bucket_limit=read.whole("WEFT_BUCKET_LIMIT"),
            picker=read.choice("WEFT_PICKER", Picker),
            assignment=read.choice("WEFT_ASSIGNMENT", Strategy),
            seen=read.choice("WEFT_SEEN", SeenKind),
            expected_urls=read.whole("WEFT_EXPECTED_URLS"),
            bloom_error=read.share("WEFT_BLOOM_ERROR"),
            virtual_nodes=read.whole("WEFT_VIRTUAL_NODES", most=MAX_BUCKETS),
            host_key=host_key,
        ),
    )


def _claimable(limits: HostLimits, workers_per_host: int) -> HostLimits:
    """A host without delay may have more than its concurrency in claims: they wait here, so that
    the next is at hand when one ends. Never more than its concurrency are sent at a time.

    Not so where several workers share a host: none knows what the others send, and a claim must
    be the right to send."""
    if limits.delay_ms or workers_per_host > 1:
        return limits
    return HostLimits(delay_ms=0, concurrency=CLAIMS_AHEAD * limits.concurrency)


def _concurrency(read: Reader) -> int:
    per_ip = int(read.number("CONCURRENT_REQUESTS_PER_IP"))
    value = per_ip or int(read.number("CONCURRENT_REQUESTS_PER_DOMAIN"))
    if value < 1:
        read.problems.append("CONCURRENT_REQUESTS_PER_DOMAIN must be 1 or more")
    return max(1, value)


def _limits_by_host(read: Reader, limits: HostLimits) -> dict[str, HostLimits]:
    by_host = {}
    for host, own in read.table("DOWNLOAD_SLOTS").items():
        try:
            by_host[host] = _own_limits(own, limits)
        except (AttributeError, OverflowError, TypeError, ValueError):
            read.problems.append(
                f"DOWNLOAD_SLOTS[{host!r}] is {own!r}; delay and concurrency are numbers, 0 or more"
            )
    return by_host


def _limits_by_key(
    read: Reader, by_host: Mapping[str, HostLimits], host_key: HostKey
) -> dict[str, HostLimits]:
    """Limits of host names as those of their host keys; of several for one the strictest."""
    by_key: dict[str, HostLimits] = {}
    for host, own in by_host.items():
        key = domain_of(host) if host_key is HostKey.DOMAIN else host
        if host_key is HostKey.IP and not is_address(host):
            read.problems.append(
                f"DOWNLOAD_SLOTS[{host!r}] names a host, and with WEFT_HOST_KEY = 'ip' limits are "
                "those of addresses; name its address"
            )
        by_key[key] = _strictest(own, by_key.get(key, own))
    return by_key


def _strictest(one: HostLimits, other: HostLimits) -> HostLimits:
    return HostLimits(max(one.delay_ms, other.delay_ms), min(one.concurrency, other.concurrency))


def _own_limits(own: Mapping[str, Any], limits: HostLimits) -> HostLimits:
    delay_ms = round(float(own.get("delay", limits.delay_ms / 1000)) * 1000)
    concurrency = int(own.get("concurrency", limits.concurrency))
    if delay_ms < 0 or concurrency < 0:
        raise ValueError
    return HostLimits(delay_ms, max(1, concurrency))


def _sinks(outputs: Sequence[str] | None, job_dir: Path) -> tuple[str, ...]:
    """Where nothing is said about items, as by archives alone, they go into the job's directory;
    an empty list says that they go nowhere."""
    sinks = tuple(output for output in outputs or () if not is_archive(output))
    if sinks or outputs == ():
        return sinks
    return (str(job_dir / DEFAULT_ITEMS),)


def _unfit_for_store(config: JobConfig) -> list[str]:
    """What an embedded store does not have, told rather than ignored."""
    if config.store.is_shared:
        return []
    shared = config.frontier.shared
    return [
        f"{name} = {str(value)!r} needs a shared store; set WEFT_STORE to redis://HOST:PORT/DB, "
        f"or leave {name} out"
        for name, value in (
            ("WEFT_PICKER", shared.picker),
            ("WEFT_SEEN", shared.seen),
            ("WEFT_ASSIGNMENT", shared.assignment),
        )
        if value != SETTINGS[name]
    ]


def _unknown_settings(settings: BaseSettings) -> list[str]:
    names = (name for name in settings if isinstance(name, str) and name.startswith("WEFT_"))
    return [
        f"there is no setting {name}; Weft has {', '.join(sorted(SETTINGS))}"
        for name in names
        if name not in SETTINGS
    ]
