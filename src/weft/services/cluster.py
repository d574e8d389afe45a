"""What the services for nodes and jobs share: access to the cluster, and waiting for it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from weft.clock import monotonic_s
from weft.cluster.jobs import Jobs
from weft.cluster.nodes import Nodes
from weft.cluster.workers import Workers
from weft.frontier import Store
from weft.redis.client import SHORT_PATIENCE_S, Client

#: How long to wait until a command is carried out.
WAIT_S = 10.0
POLL_S = 0.2

Seen = TypeVar("Seen")


class Cluster:
    def __init__(self, store: Store, client: Client) -> None:
        self.place = store.place
        self.nodes = Nodes(client)
        self.jobs = Jobs(client)
        self.workers = Workers(client)


@asynccontextmanager
async def open_cluster(store: Store) -> AsyncIterator[Cluster]:
    async with Client(store.url, patience_s=SHORT_PATIENCE_S) as client:
        yield Cluster(store, client)


async def wait_for(
    look: Callable[[], Awaitable[Seen]], is_done: Callable[[Seen], bool]
) -> tuple[Seen, bool]:
    """Look until it is done, or for some seconds. Return what was seen last, and whether it is
    done."""
    until_s = monotonic_s() + WAIT_S
    while True:
        seen = await look()
        if is_done(seen):
            return seen, True
        if monotonic_s() >= until_s:
            return seen, False
        await asyncio.sleep(POLL_S)
