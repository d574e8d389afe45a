"""What to fetch next. `base` has the contract, `policy` the rules, `memory` the specification."""

from weft.config import FrontierConfig
from weft.frontier.base import Frontier, Hold, LeasesBuckets, ReportsSeen
from weft.frontier.memory import MemoryFrontier
from weft.frontier.rocks import RocksFrontier
from weft.frontier.store import Store, parse_store

__all__ = [
    "Frontier",
    "Hold",
    "LeasesBuckets",
    "MemoryFrontier",
    "ReportsSeen",
    "RocksFrontier",
    "Store",
    "open_frontier",
    "parse_store",
]


def open_frontier(
    store: Store,
    job: str,
    config: FrontierConfig | None = None,
    *,
    is_read_only: bool = False,
) -> Frontier:
    """The frontier of a job in a store, not opened yet.

    `is_read_only`: for a look at it from beside; it must exist.
    """
    if store.directory is not None:
        return RocksFrontier(store.directory / "frontier", config, is_read_only=is_read_only)
    # Here, for an embedded store needs no Redis client.
    from weft.frontier.redis import RedisFrontier

    return RedisFrontier(store.url, job, config, is_read_only=is_read_only)
