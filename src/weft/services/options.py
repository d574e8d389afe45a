"""What a user can choose for a crawl, and the settings that this stands for."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from weft.config import DEFAULT_CONCURRENT_REQUESTS
from weft.records import Order
from weft.sinks.base import Schema


class CrawlOptions(msgspec.Struct, frozen=True, kw_only=True):
    """None: not chosen."""

    output: Sequence[str] | None = None
    schema: Schema | None = None
    order: Order | None = None
    depth: int | None = None
    delay: float | None = None
    concurrency: int | None = None
    workers_per_host: int | None = None
    store: str | None = None
    job: str | None = None
    watch: bool = False


def overrides_of(options: CrawlOptions, settings: Mapping[str, Any]) -> dict[str, Any]:
    """`settings`: those that the user gave by name; options override them."""
    concurrency = options.concurrency
    told = {
        "WEFT_SINKS": options.output,
        "WEFT_SCHEMA": options.schema and str(options.schema),
        "WEFT_ORDER": options.order and str(options.order),
        "DEPTH_LIMIT": options.depth,
        "DOWNLOAD_DELAY": options.delay,
        "CONCURRENT_REQUESTS_PER_DOMAIN": concurrency,
        "CONCURRENT_REQUESTS": concurrency and max(concurrency, DEFAULT_CONCURRENT_REQUESTS),
        "WEFT_WORKERS_PER_HOST": options.workers_per_host,
        # Empty, as from a variable of the shell that is not set, is not given.
        "WEFT_STORE": options.store or None,
        "WEFT_JOB": options.job or None,
        "WEFT_WATCH": options.watch or None,
    }
    return dict(settings) | {name: value for name, value in told.items() if value is not None}
