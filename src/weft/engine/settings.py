"""Reads Scrapy's settings once into the values that the parts of a crawl use."""

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from weft.config import (
    DEFAULT_BLOOM_ERROR,
    DEFAULT_BUCKET_LIMIT,
    DEFAULT_BUCKETS,
    DEFAULT_CLAIM_MS,
    DEFAULT_CONCURRENT_REQUESTS,
    DEFAULT_EXPECTED_URLS,
    DEFAULT_ITEMS,
    DEFAULT_LEASE_MS,
    DEFAULT_VIRTUAL_NODES,
    DEFAULT_WORKERS_PER_HOST,
    MAX_BUCKETS,
    FrontierConfig,
    HostLimits,
    SharedConfig,
)
from weft.engine.browser.config import (
    DEFAULT_PAGES,
    DEFAULT_SETTLE_S,
    BrowserConfig,
    read_browser_settings,
)
from weft.engine.http.resolver import is_address
from weft.engine.naming import name_by_directory
from weft.engine.politeness.hostkeys import domain_of
from weft.engine.requests.dupefilter import find_dupefilter
from weft.engine.requests.slots import is_bare
from weft.engine.scrapy.scrapyparts import ScrapyPart
from weft.engine.settingsreader import SHARE, SettingsReader, at_least
from weft.errors import ConfigError
from weft.frontier import Frontier, JobHome, Store, find_home, parse_store
from weft.markup import DEFAULT_LIMITS, PageLimits
from weft.records import HostKey, Order, Picker, SeenKind, Strategy
from weft.sinks.archive import is_archive
from weft.sinks.base import Schema, SinkConfig

#: Claims of a host without delay, as a multiple of its concurrency.
CLAIMS_AHEAD = 4
#: How long a crawl that is being stopped waits for requests under way.
DEFAULT_CLOSE_S = 2
#: How long the reading of a page may take: all other pages of the worker wait meanwhile.
DEFAULT_PAGE_S = 2.0

#: Every setting of Weft with its default; `docs/settings.md` explains them.
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
    "WEFT_MAX_PAGE_SECONDS": DEFAULT_PAGE_S,
    "WEFT_FRESH": False,
    "WEFT_RERUN": True,
    "WEFT_WATCH": False,
    "WEFT_BOARDS": "",
    "WEFT_BROWSER_PATH": "",
    "WEFT_BROWSER_PAGES": DEFAULT_PAGES,
    "WEFT_BROWSER_SETTLE": DEFAULT_SETTLE_S,
    "WEFT_BROWSER_SANDBOX": True,
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
    #: `claimable`.
    limits: HostLimits
    limits_by_host: Mapping[str, HostLimits]
    #: A worker that is silent for this long loses its buckets.
    lease_s: float
    #: How long to wait for requests under way when the crawl is being stopped.
    close_s: float
    #: How much of the work this worker takes compared to others; 0: measured.
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
    #: Pages that exceed one of these are not parsed.
    page_limits: PageLimits
    #: How long a page may be read: infinite if there is no limit.
    page_s: float
    is_fresh: bool
    is_rerun: bool
    #: Go on when nothing is left to do: pages become due again.
    is_watching: bool
    #: Where its boards are: the directory of a job of this machine, or a shared store.
    boards: Path | str
    browser: BrowserConfig
    #: Parts for which Scrapy's own is used instead of ours.
    scrapy_parts: frozenset[ScrapyPart]

    def limits_of(self, host: str) -> HostLimits:
        return self.limits_by_host.get(host, self.limits)


def read_settings(settings: BaseSettings, name: str) -> JobConfig:
    """`name`: that of the job if the settings give it none. Raises ConfigError with all problems at
    once."""
    read = SettingsReader(settings)
    limits = HostLimits(round(read.number("DOWNLOAD_DELAY") * 1000), _concurrency(read))
    host_key = read.choice("WEFT_HOST_KEY", HostKey)
    own_limits = _limits_by_host(read, settings.getdict("DOWNLOAD_SLOTS"), limits)
    by_host = _limits_by_key(read, own_limits, host_key)
    home = _home(read, settings, name)
    outputs = None if settings.get("WEFT_SINKS") is None else read.names("WEFT_SINKS")
    config = JobConfig(
        store=home.store,
        job=home.job,
        job_dir=home.job_dir,
        frontier=_frontier(read, limits, by_host, host_key, _project(settings)),
        # Scrapy's 0 means no limit.
        concurrency=int(read.number("CONCURRENT_REQUESTS")) or DEFAULT_CONCURRENT_REQUESTS,
        limits=limits,
        limits_by_host=by_host,
        lease_s=read.number("WEFT_LEASE_TIMEOUT", at_least(1)),
        close_s=read.number("WEFT_CLOSE_TIMEOUT"),
        weight=read.number("WEFT_WEIGHT"),
        node=read.text("WEFT_NODE"),
        sinks=_sinks(outputs, home.job_dir),
        archives=tuple(filter(is_archive, outputs or ())),
        sink=SinkConfig(
            job_dir=home.job_dir,
            job=home.job,
            is_shared=home.store.is_shared,
            is_strict=read.choice("WEFT_SCHEMA", Schema) is Schema.STRICT,
        ),
        item_key=read.names("WEFT_ITEM_KEY"),
        fingerprint_headers=read.names("WEFT_FINGERPRINT_HEADERS"),
        max_pages=int(read.number("WEFT_MAX_PAGES")),
        page_limits=_page_limits(read),
        page_s=read.number("WEFT_MAX_PAGE_SECONDS") or math.inf,
        is_fresh=read.flag("WEFT_FRESH"),
        is_rerun=read.flag("WEFT_RERUN"),
        is_watching=read.flag("WEFT_WATCH"),
        boards=_boards(read, home.store),
        browser=read_browser_settings(read),
        scrapy_parts=read.choices("WEFT_SCRAPY_PARTS", ScrapyPart),
    )
    problems = [
        *read.problems,
        *_unfit_for_store(config),
        *_unfit_dupefilter(settings),
        *_unknown_settings(settings),
    ]
    if problems:
        raise ConfigError("\n".join(problems))
    return config


def _boards(read: SettingsReader, store: Store) -> Path | str:
    directory = read.text("WEFT_BOARDS")
    return Path(directory) if directory else store.directory or store.url


def check_host_key(frontier: Frontier, config: JobConfig) -> None:
    """Raises ConfigError if the job was started with other host keys: budgets would not be kept."""
    wanted, found = config.frontier.host_key, frontier.host_key
    if wanted is not found:
        raise ConfigError(
            f"the job {config.job} was started with WEFT_HOST_KEY = {str(found)!r}, but it is now "
            f"{str(wanted)!r}; set it to {str(found)!r}, start over with --fresh (WEFT_FRESH), or "
            "choose another job with --job"
        )


def _page_limits(read: SettingsReader) -> PageLimits:
    return PageLimits(
        max_bytes=int(read.number("WEFT_MAX_PAGE_BYTES")),
        max_tags=int(read.number("WEFT_MAX_PAGE_TAGS")),
        max_depth=int(read.number("WEFT_MAX_PAGE_DEPTH")),
        max_attributes=int(read.number("WEFT_MAX_PAGE_ATTRIBUTES")),
    )


def read_home(settings: BaseSettings, name: str) -> JobHome:
    """Where a job lives. `name`: its name if neither the settings nor Scrapyd give it one. Raises
    ConfigError for an invalid store."""
    read = SettingsReader(settings)
    job, job_dir, store = (read.text(each) for each in ("WEFT_JOB", "JOBDIR", "WEFT_STORE"))
    if not job and not job_dir:
        job = os.environ.get("SCRAPY_JOB", "")
    if not job and job_dir and store and parse_store(store).is_shared:
        job = name_by_directory(name, Path(job_dir))
    return find_home(job or name, job_dir=job_dir, store=store)


def _home(read: SettingsReader, settings: BaseSettings, name: str) -> JobHome:
    if (job_dir := read.text("JOBDIR")) and has_plain_queue(Path(job_dir)):
        read.problems.append(
            f"JOBDIR: {job_dir} has requests that plain Scrapy has left (requests.queue), which "
            "Weft does not read; let Scrapy finish that crawl with -s WEFT_ENABLED=False, or "
            "choose another JOBDIR"
        )
    try:
        return read_home(settings, name)
    except ConfigError as error:
        read.problems.append(f"WEFT_STORE: {error}")
        return find_home(name)  # anything valid


def has_plain_queue(job_dir: Path) -> bool:
    """Whether a crawl of plain Scrapy that is not finished lives there. A finished one has nothing
    to go on with, and leaves no queues but a list of them."""
    files = (path for path in (job_dir / "requests.queue").rglob("*") if path.is_file())
    return any(path.name != "active.json" for path in files)


def _project(settings: BaseSettings) -> str:
    """The name of the project; empty if there is none."""
    is_given = (settings.getpriority("BOT_NAME") or 0) > SETTINGS_PRIORITIES["default"]
    return str(settings.get("BOT_NAME") or "") if is_given else ""


def _frontier(
    read: SettingsReader,
    limits: HostLimits,
    by_host: Mapping[str, HostLimits],
    host_key: HostKey,
    project: str,
) -> FrontierConfig:
    workers = read.whole("WEFT_WORKERS_PER_HOST")
    return FrontierConfig(
        order=read.choice("WEFT_ORDER", Order),
        limits=claimable(limits, workers),
        limits_by_host={host: claimable(own, workers) for host, own in by_host.items()},
        claim_ms=round(read.number("WEFT_CLAIM_TIMEOUT", at_least(1)) * 1000),
        workers_per_host=workers,
        shared=SharedConfig(
            buckets=read.whole("WEFT_BUCKETS", most=MAX_BUCKETS),
            bucket_limit=read.whole("WEFT_BUCKET_LIMIT"),
            picker=read.choice("WEFT_PICKER", Picker),
            assignment=read.choice("WEFT_ASSIGNMENT", Strategy),
            seen=read.choice("WEFT_SEEN", SeenKind),
            expected_urls=read.whole("WEFT_EXPECTED_URLS"),
            bloom_error=read.number("WEFT_BLOOM_ERROR", SHARE),
            virtual_nodes=read.whole("WEFT_VIRTUAL_NODES", most=MAX_BUCKETS),
            host_key=host_key,
            project=project,
        ),
    )


def claimable(limits: HostLimits, workers_per_host: int) -> HostLimits:
    """A host without delay may have more claims than its concurrency: the extra ones wait here, so
    that the next is ready when one ends. No more than its concurrency are sent at a time.

    This does not apply if several workers share a host: none knows what the others send, so a claim
    must be the right to send."""
    if limits.delay_ms or workers_per_host > 1:
        return limits
    return msgspec.structs.replace(limits, concurrency=CLAIMS_AHEAD * limits.concurrency)


def _concurrency(read: SettingsReader) -> int:
    per_ip = int(read.number("CONCURRENT_REQUESTS_PER_IP"))
    value = per_ip or int(read.number("CONCURRENT_REQUESTS_PER_DOMAIN"))
    if value < 1:
        read.problems.append("CONCURRENT_REQUESTS_PER_DOMAIN must be 1 or more")
    return max(1, value)


def _limits_by_host(
    read: SettingsReader, slots: Mapping[str, Any], limits: HostLimits
) -> dict[str, HostLimits]:
    by_host = {}
    for host, own in slots.items():
        try:
            by_host[host] = _own_limits(own, limits)
        except (AttributeError, OverflowError, TypeError, ValueError):
            read.problems.append(
                f"DOWNLOAD_SLOTS[{host!r}] is {own!r}; "
                "delay and concurrency must be numbers, 0 or more"
            )
    return by_host


def _limits_by_key(
    read: SettingsReader, by_host: Mapping[str, HostLimits], host_key: HostKey
) -> dict[str, HostLimits]:
    """Convert limits by host name to limits by host key; the strictest of several wins."""
    by_key: dict[str, HostLimits] = {}
    for host, own in by_host.items():
        key = domain_of(host) if host_key is HostKey.DOMAIN else host
        if host_key is HostKey.IP and not is_address(host) and not is_bare(host):
            read.problems.append(
                f"DOWNLOAD_SLOTS[{host!r}] names a host, but with WEFT_HOST_KEY = 'ip' limits "
                "apply to addresses; name its address (the name of a slot has no dot then)"
            )
        by_key[key] = own.strictest(by_key.get(key, own))
    return by_key


def _own_limits(own: Mapping[str, Any], limits: HostLimits) -> HostLimits:
    delay_ms = round(float(own.get("delay", limits.delay_ms / 1000)) * 1000)
    concurrency = int(own.get("concurrency", limits.concurrency))
    if delay_ms < 0 or concurrency < 0:
        raise ValueError
    return HostLimits(delay_ms, max(1, concurrency))


def _sinks(outputs: Sequence[str] | None, job_dir: Path) -> tuple[str, ...]:
    """If no output takes items, for example if there are only archives, they go into the job's
    directory. An empty list means that they go nowhere."""
    sinks = tuple(output for output in outputs or () if not is_archive(output))
    if sinks or outputs == ():
        return sinks
    return (str(job_dir / DEFAULT_ITEMS),)


def _unfit_for_store(config: JobConfig) -> list[str]:
    """Settings that an embedded store does not support: reported, not ignored."""
    if config.store.is_shared:
        return []
    shared = config.frontier.shared
    return [
        f"{name} = {str(value)!r} needs a shared store; set WEFT_STORE to redis://HOST:PORT/DB, "
        f"or remove {name}"
        for name, value in (
            ("WEFT_PICKER", shared.picker),
            ("WEFT_SEEN", shared.seen),
            ("WEFT_ASSIGNMENT", shared.assignment),
        )
        if value != SETTINGS[name]
    ]


def _unfit_dupefilter(settings: BaseSettings) -> list[str]:
    try:
        find_dupefilter(settings)
    except ConfigError as error:
        return [str(error)]
    return []


def _unknown_settings(settings: BaseSettings) -> list[str]:
    names = (name for name in settings if isinstance(name, str) and name.startswith("WEFT_"))
    return [
        f"there is no setting {name}; Weft has {', '.join(sorted(SETTINGS))}"
        for name in names
        if name not in SETTINGS
    ]
