"""The leases of a worker: buckets that it may claim from, and those that it is about to leave."""

import asyncio
from collections.abc import Iterable, Sequence, Set
from contextlib import suppress

from weft.errors import StoreError
from weft.frontier.redis.layout import Bucket
from weft.frontier.redis.scripts import GIVE_UP, LEASE, GiveUp, Lease
from weft.redis.client import Client

#: How long to try to give leases up when the worker ends.
LEAVE_S = 2.0


class Leases:
    """Without any, until the first is asked for, all buckets may be served."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._owner = ""
        self._restarts = client.restarts
        self._tokens: dict[Bucket, int] = {}
        self._leaving: set[Bucket] = set()
        self._is_lost = False
        #: Hosts that other workers want turns of, by the last `hold`.
        self.called: list[str] = []

    @property
    def held(self) -> list[int]:
        """The numbers of the buckets."""
        return sorted(bucket.number for bucket in self._tokens)

    @property
    def leaving(self) -> list[int]:
        return sorted(bucket.number for bucket in self._leaving)

    def has(self, bucket: Bucket) -> bool:
        """Whether there may be claims of ours."""
        return not self._owner or bucket in self._tokens

    def serves(self, bucket: Bucket) -> bool:
        """Whether to claim from it."""
        return self.has(bucket) and bucket not in self._leaving

    def token(self, bucket: Bucket) -> int:
        """What a claim has to show; 0: nothing."""
        return self._tokens.get(bucket, 0)

    def is_leaving(self, bucket: Bucket) -> bool:
        return bucket in self._leaving

    def note_lost(self, bucket: Bucket) -> None:
        """A claim was refused: another has the bucket, or our time is over. `hold` will see; until
        then nothing more is claimed there."""
        self._is_lost = True
        self._leaving.add(bucket)

    def _drop(self, bucket: Bucket) -> None:
        self._tokens.pop(bucket, None)
        self._leaving.discard(bucket)

    async def hold(
        self,
        owner: str,
        wanted: Set[Bucket],
        busy: Set[Bucket],
        *,
        now_ms: int,
        lease_ms: int,
        may_evict: bool,
    ) -> bool:
        """Keep leases of what is wanted, and of what is busy; try to take what is missing; give the
        rest up. Whether one was lost since the last time."""
        self._owner = owner
        self._leaving = {bucket for bucket in self._tokens if bucket not in wanted}
        await self._give_up([bucket for bucket in self._leaving if bucket not in busy])
        asked = [*wanted, *self._leaving]
        calls = [
            LEASE.call(
                bucket.prefix,
                bucket.config,
                Lease(now_ms, owner, lease_ms, bucket in wanted, may_evict),
            )
            for bucket in asked
        ]
        is_lost, self._is_lost = self._is_lost, False
        self.called = []
        for bucket, raw in zip(asked, await self._client.run(calls), strict=True):
            leased = LEASE.read(raw)
            before = self._tokens.get(bucket)
            self.called += leased.called
            is_lost |= before is not None and before != leased.token
            if leased.token:
                self._tokens[bucket] = leased.token
            else:
                self._drop(bucket)
            if leased.is_new:
                bucket.claim_at_ms = 0.0
        return is_lost

    async def keep(self, client: Client, owner: str, lease_ms: int) -> bool:
        """Keep those that we have, over another connection, which may be another thread's; whether
        all are still ours."""
        client.know({LEASE.sha: LEASE.source})
        held = [*self._tokens.items()]
        call = Lease(0, owner, lease_ms, is_wanted=False, may_evict=False)
        replies = await client.run(
            [LEASE.call(bucket.prefix, bucket.config, call) for bucket, _ in held]
        )
        kept = zip(held, replies, strict=True)
        return all(LEASE.read(raw).token == token for (_, token), raw in kept)

    async def give_up_unknown(
        self, owner: str, buckets: Iterable[Bucket], wanted: Set[Bucket]
    ) -> None:
        """After a restart of the store: it may have gone back to a state in which we had leases
        that we have given up since."""
        restarts = self._client.restarts
        if restarts == self._restarts:
            return
        call = GiveUp(0, owner, lease_token=0)
        await self._client.run(
            [
                GIVE_UP.call(bucket.prefix, bucket.config, call)
                for bucket in buckets
                if bucket not in wanted and bucket not in self._tokens
            ]
        )
        self._restarts = restarts

    async def _give_up(self, buckets: Sequence[Bucket]) -> None:
        commands = [
            GIVE_UP.call(bucket.prefix, bucket.config, GiveUp(0, self._owner, self._tokens[bucket]))
            for bucket in buckets
        ]
        for bucket in buckets:
            self._drop(bucket)  # first: `keep` must not miss them, whenever we hear the answer
        if commands:
            await self._client.run(commands)

    async def leave(self) -> None:
        """Give all up at once; if that takes long, they run out by themselves."""
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(LEAVE_S):
                await self._give_up([*self._tokens])
