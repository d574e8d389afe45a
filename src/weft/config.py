"""Values that configure a frontier; read once at the edge, then handed down."""

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from weft.records import Order

#: Time between two fetches of one host.
DEFAULT_DELAY_MS = 0
#: Fetches of one host at the same time, as in Scrapy.
DEFAULT_CONCURRENCY = 8
#: A claim that is not renewed for so long is given to another.
DEFAULT_CLAIM_MS = 120_000
#: First pause after a 429 or 503; doubles each time.
DEFAULT_BACKOFF_MS = 1_000
#: Longest pause that we choose ourselves.
DEFAULT_MAX_BACKOFF_MS = 600_000
#: Longest pause that a server can ask for with Retry-After or Crawl-delay.
DEFAULT_MAX_PAUSE_MS = 3_600_000
#: A URL that failed is taken again after this time.
DEFAULT_BAD_URL_MS = 24 * 3_600_000
#: A host that does not exist is tried again after this time.
DEFAULT_BAD_HOST_MS = 3_600_000


class HostLimits(msgspec.Struct, frozen=True):
    """What a host allows."""

    delay_ms: int = DEFAULT_DELAY_MS
    concurrency: int = DEFAULT_CONCURRENCY


class FrontierConfig(msgspec.Struct, frozen=True):
    """How a frontier behaves."""

    order: Order = Order.BFS
    limits: HostLimits = HostLimits()
    #: Limits of single hosts.
    limits_by_host: Mapping[str, HostLimits] = MappingProxyType({})
    claim_ms: int = DEFAULT_CLAIM_MS
    backoff_ms: int = DEFAULT_BACKOFF_MS
    max_backoff_ms: int = DEFAULT_MAX_BACKOFF_MS
    max_pause_ms: int = DEFAULT_MAX_PAUSE_MS
    bad_url_ms: int = DEFAULT_BAD_URL_MS
    bad_host_ms: int = DEFAULT_BAD_HOST_MS

    def limits_of(self, host: str) -> HostLimits:
        return self.limits_by_host.get(host, self.limits)
