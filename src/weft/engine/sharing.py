"""What only a crawl on a shared store needs: a share of the work, and a keeper of its leases.

An embedded store needs neither this nor the Redis client that is imported here.
"""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack

from weft.cluster.media import MediaClaims
from weft.cluster.membership import Membership
from weft.cluster.status import JobState, Status
from weft.engine.claims.keeper import LeaseKeeper
from weft.engine.claims.share import Share
from weft.engine.settings import JobConfig
from weft.errors import StoreError
from weft.frontier import LeasesBuckets
from weft.redis.client import SHORT_PATIENCE_S, Client


class Sharing:
    """This worker's place among the workers of a job."""

    def __init__(
        self,
        client: Client,
        frontier: LeasesBuckets,
        config: JobConfig,
        owner: str,
        status: Callable[[], Status],
    ) -> None:
        self._config = config
        #: Which worker downloads which file.
        self.media = MediaClaims(client, config.job, owner, round(config.lease_s * 1000))
        self.share = share = Share(
            frontier,
            Membership(client, config.job, owner),
            owner=owner,
            workers_per_host=config.frontier.workers_per_host,
            lease_s=config.lease_s,
            weight=config.weight or None,
            status=status,
        )
        self._keeper = LeaseKeeper(
            share.lease_time,
            lambda: Client(config.store.url, patience_s=SHORT_PATIENCE_S),
            share.stay,
            after_s=config.lease_s / 3,
            until_s=config.frontier.claim_ms / 1000,
        )

    async def join(self) -> None:
        """Take the place. Raises StoreError if the job was stopped."""
        await self.share.beat()
        if self.share.state is JobState.STOPPED:
            job = self._config.job
            resume = f"weft job resume {job} --store {self._config.store.place}"
            raise StoreError(f"the job {job} was stopped; `{resume}` resumes it")

    def start(self, stack: AsyncExitStack) -> None:
        """Keep the place until the stack is closed."""
        beats = asyncio.ensure_future(self.share.run())
        stack.callback(beats.cancel)
        self._keeper.start()
        stack.callback(self._keeper.stop)


async def open_sharing(
    stack: AsyncExitStack,
    frontier: LeasesBuckets,
    config: JobConfig,
    owner: str,
    status: Callable[[], Status],
) -> Sharing:
    client = await stack.enter_async_context(Client(config.store.url))
    sharing = Sharing(client, frontier, config, owner, status)
    stack.push_async_callback(sharing.share.close)
    return sharing
