"""Scrapy's settings, read once into the values that the parts of a crawl are given."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from scrapy.settings import BaseSettings

from weft.config import FrontierConfig, HostLimits
from weft.errors import ConfigError
from weft.records import Order

Value = TypeVar("Value")

#: Where a job keeps its frontier and items, below the working directory.
DEFAULT_JOBS_DIR = Path(".weft")
#: Items go into this file of the job's directory unless WEFT_OUTPUT says otherwise.
DEFAULT_ITEMS = "items.db"
#: Requests under way in one worker, over all hosts. With many hosts Scrapy's own default of 16 is
#: the limit long before the hosts are.
DEFAULT_CONCURRENT_REQUESTS = 128

#: Every setting of Weft with its default; what each does stands in `docs/settings.md`.
SETTINGS: Mapping[str, Any] = {
    "WEFT_ENABLED": True,
    "WEFT_STORE": "",
    "WEFT_ORDER": "priority",
    "WEFT_OUTPUT": None,
    "WEFT_ITEM_KEY": [],
    "WEFT_FINGERPRINT_HEADERS": [],
    "WEFT_MAX_PAGES": 0,
    "WEFT_FRESH": False,
    "WEFT_RERUN": True,
}


class JobConfig(msgspec.Struct, frozen=True):
    """How one job runs."""

    job_dir: Path
    frontier: FrontierConfig
    #: Requests under way at a time, over all hosts.
    concurrency: int
    #: What hosts allow; the frontier hands out more claims than that, see `_claimable`.
    limits: HostLimits
    limits_by_host: Mapping[str, HostLimits]
    outputs: tuple[str, ...]
    item_key: tuple[str, ...]
    fingerprint_headers: tuple[str, ...]
    max_pages: int
    is_fresh: bool
    is_rerun: bool

    def limits_of(self, host: str) -> HostLimits:
        return self.limits_by_host.get(host, self.limits)


def read_settings(settings: BaseSettings, spider_name: str) -> JobConfig:
    """All problems are told at once."""
    problems: list[str] = []
    order = _read_order(settings, problems)
    limits = HostLimits(
        delay_ms=round(_number(settings, "DOWNLOAD_DELAY", problems) * 1000),
        concurrency=_concurrency(settings, problems),
    )
    by_host = _limits_by_host(settings, limits, problems)
    job_dir = _job_dir(settings, spider_name, problems)
    outputs = _outputs(settings, job_dir, problems)
    item_key = _names(settings, "WEFT_ITEM_KEY", problems)
    headers = _names(settings, "WEFT_FINGERPRINT_HEADERS", problems)
    max_pages = int(_number(settings, "WEFT_MAX_PAGES", problems))
    concurrency = int(_number(settings, "CONCURRENT_REQUESTS", problems))
    is_fresh = _read(settings.getbool, "WEFT_FRESH", False, problems)
    is_rerun = _read(settings.getbool, "WEFT_RERUN", True, problems)
    problems += _unknown_settings(settings)
    if problems:
        raise ConfigError("\n".join(problems))
    return JobConfig(
        job_dir=job_dir,
        frontier=FrontierConfig(
            order=order,
            limits=_claimable(limits),
            limits_by_host={host: _claimable(own) for host, own in by_host.items()},
        ),
        # Scrapy's 0 means no limit.
        concurrency=concurrency or DEFAULT_CONCURRENT_REQUESTS,
        limits=limits,
        limits_by_host=by_host,
        outputs=outputs,
        item_key=item_key,
        fingerprint_headers=headers,
        max_pages=max_pages,
        is_fresh=is_fresh,
        is_rerun=is_rerun,
    )


def default_job_dir(name: str) -> Path:
    """Where a job lives unless the user says otherwise."""
    return DEFAULT_JOBS_DIR / (name.replace("/", "_").strip(".") or "job")


def store_path(store: str) -> Path:
    """The directory that a store address names."""
    scheme, _, path = store.partition("://")
    if scheme.lower() != "rocks" or not path.strip("/"):
        raise ConfigError(
            f"{store!r} is no store; write rocks:///DIR for a directory with an absolute path, "
            "or rocks://DIR for one below the working directory"
        )
    return Path(path)


def _claimable(limits: HostLimits) -> HostLimits:
    """A host without delay may have twice its concurrency in claims: half of them wait here, so
    that the next is at hand when one ends. Never more than its concurrency are sent at a time."""
    if limits.delay_ms:
        return limits
    return HostLimits(delay_ms=0, concurrency=2 * limits.concurrency)


def _read_order(settings: BaseSettings, problems: list[str]) -> Order:
    value = settings.get("WEFT_ORDER")
    try:
        return Order(value)
    except ValueError:
        problems.append(f"WEFT_ORDER is {value!r}; choose one of {', '.join(Order)}")
        return Order.BFS


def _read(
    getter: Callable[[str], Value], name: str, otherwise: Value, problems: list[str]
) -> Value:
    """A setting by one of Scrapy's getters, which raise for what they cannot read."""
    try:
        return getter(name)
    except (TypeError, ValueError) as problem:
        problems.append(f"{name} cannot be read: {problem}")
        return otherwise


def _number(settings: BaseSettings, name: str, problems: list[str]) -> float:
    try:
        value = settings.getfloat(name)
    except (TypeError, ValueError):
        value = -1.0
    if not 0 <= value < 1e9:
        problems.append(f"{name} is {settings.get(name)!r}; it must be a number, 0 or more")
        return 0.0
    return value


def _concurrency(settings: BaseSettings, problems: list[str]) -> int:
    per_ip = int(_number(settings, "CONCURRENT_REQUESTS_PER_IP", problems))
    value = per_ip or int(_number(settings, "CONCURRENT_REQUESTS_PER_DOMAIN", problems))
    if value < 1:
        problems.append("CONCURRENT_REQUESTS_PER_DOMAIN must be 1 or more")
    return max(1, value)


def _limits_by_host(
    settings: BaseSettings, limits: HostLimits, problems: list[str]
) -> dict[str, HostLimits]:
    by_host = {}
    for host, own in settings.getdict("DOWNLOAD_SLOTS").items():
        try:
            by_host[host] = _own_limits(own, limits)
        except (AttributeError, OverflowError, TypeError, ValueError):
            problems.append(
                f"DOWNLOAD_SLOTS[{host!r}] is {own!r}; delay and concurrency are numbers, 0 or more"
            )
    return by_host


def _own_limits(own: Mapping[str, Any], limits: HostLimits) -> HostLimits:
    delay_ms = round(float(own.get("delay", limits.delay_ms / 1000)) * 1000)
    concurrency = int(own.get("concurrency", limits.concurrency))
    if delay_ms < 0 or concurrency < 0:
        raise ValueError
    return HostLimits(delay_ms, max(1, concurrency))


def _job_dir(settings: BaseSettings, spider_name: str, problems: list[str]) -> Path:
    store = settings.get("WEFT_STORE")
    if store:
        try:
            return store_path(str(store))
        except ConfigError as error:
            problems.append(f"WEFT_STORE: {error}")
    if settings.get("JOBDIR"):
        return Path(settings["JOBDIR"])
    return default_job_dir(spider_name)


def _outputs(settings: BaseSettings, job_dir: Path, problems: list[str]) -> tuple[str, ...]:
    if settings.get("WEFT_OUTPUT") is None:
        return (str(job_dir / DEFAULT_ITEMS),)
    return _names(settings, "WEFT_OUTPUT", problems)


def _names(settings: BaseSettings, name: str, problems: list[str]) -> tuple[str, ...]:
    return tuple(str(value) for value in _read(settings.getlist, name, list[Any](), problems))


def _unknown_settings(settings: BaseSettings) -> list[str]:
    names = (name for name in settings if isinstance(name, str) and name.startswith("WEFT_"))
    return [
        f"there is no setting {name}; Weft has {', '.join(sorted(SETTINGS))}"
        for name in names
        if name not in SETTINGS
    ]
