"""What a project's DUPEFILTER_CLASS means.

The frontier filters duplicates, for all workers and over all runs of a job. A filter of the project
can only tell it which requests are the same, or that none are.

A filter that keeps a memory of its own is refused. Each worker would have another one, and after a
crash it may know requests that the frontier never got: they would be lost.
"""

from collections.abc import Callable
from copy import copy

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.dupefilters import BaseDupeFilter, RFPDupeFilter
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, Settings
from scrapy.utils.misc import build_from_crawler, load_object

from weft.errors import ConfigError

NAME = "DUPEFILTER_CLASS"
_NO_FILTER = "scrapy.dupefilters.BaseDupeFilter"
# What Weft does not call.
_UNUSED = ("request_seen", "open", "close", "log")


def find_dupefilter(settings: BaseSettings) -> type | None:
    """The filter of the project; None if it has none. Raises ConfigError if it cannot be used."""
    if (settings.getpriority(NAME) or 0) <= SETTINGS_PRIORITIES["default"]:
        return None
    try:
        found: type = load_object(settings[NAME])
    except Exception as problem:
        raise ConfigError(f"{NAME} is {settings[NAME]!r}; it cannot be loaded: {problem}") from None
    if found is RFPDupeFilter:
        return None
    if not filters_nothing(found):
        _check(found)
    return found


def filters_nothing(filter_class: type) -> bool:
    return getattr(filter_class, "request_seen", None) is BaseDupeFilter.request_seen


def _check(filter_class: type) -> None:
    name = f"{filter_class.__module__}.{filter_class.__qualname__}"
    if any(cls.__module__.startswith("scrapy_redis.") for cls in filter_class.__mro__):
        raise ConfigError(
            f"{NAME} is {name}, of scrapy-redis; remove it: with Weft, all workers of a job "
            "share one filter anyway, see docs/scrapy-redis.md"
        )
    own = [
        method
        for method in _UNUSED
        if getattr(filter_class, method, None) is not getattr(RFPDupeFilter, method)
    ]
    if own:
        raise ConfigError(
            f"{NAME} is {name}, with its own {', '.join(own)}; Weft cannot use that: such a filter "
            "is different in each worker, and after a crash it may know requests that were never "
            "queued. Say which requests are the same with REQUEST_FINGERPRINTER_CLASS instead (see "
            f"docs/moving.md), or filter nothing with {NAME} = {_NO_FILTER!r}"
        )


def fingerprints_of(
    filter_class: type[RFPDupeFilter], crawler: Crawler
) -> Callable[[Request], bytes] | None:
    """How a filter of the project identifies requests; None if that is Scrapy's way."""
    # It is built as Scrapy does, but without JOBDIR: it would keep a file there.
    twin = copy(crawler)
    twin.settings = Settings(crawler.settings)  # not a copy: that could not be changed either
    twin.settings.set("JOBDIR", None, SETTINGS_PRIORITIES["cmdline"])
    made = build_from_crawler(filter_class, twin)
    is_inherited = filter_class.request_fingerprint is RFPDupeFilter.request_fingerprint
    if is_inherited and made.fingerprinter is crawler.request_fingerprinter:
        return None
    return lambda request: made.request_fingerprint(request).encode()
