"""What to fetch next. `base` has the contract, `policy` the rules, `memory` the specification."""

from weft.config import FrontierConfig
from weft.frontier.base import Frontier, FrontierBackend, Hold, LeasesBuckets, ServesPeople
from weft.frontier.memory import MemoryFrontier
from weft.frontier.rocks import RocksFrontier
from weft.frontier.store import JobHome, Store, find_home, parse_store

__all__ = [
    "Frontier",
    "FrontierBackend",
    "Hold",
    "JobHome",
    "LeasesBuckets",
    "MemoryFrontier",
    "RocksFrontier",
    "ServesPeople",
    "Store",
    "find_home",
    "open_frontier",
    "parse_store",
]


def open_frontier(
    store: Store,
    job: str,
    config: FrontierConfig | None = None,
    *,
    is_read_only: bool = False,
) -> FrontierBackend:
    """The frontier of a job in a store, not opened yet.

    `is_read_only`: for a look at it from beside; it must exist.
    """
    if store.directory is not None:
        return RocksFrontier(store.directory / "frontier", config, is_read_only=is_read_only)
    # Here, for an embedded store needs no Redis client.
    from weft.frontier.redis import RedisFrontier

    return RedisFrontier(store.url, job, config, is_read_only=is_read_only)
