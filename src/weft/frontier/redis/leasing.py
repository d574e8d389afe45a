"""Leases of buckets: keeping, taking and giving them up."""

import asyncio
from collections.abc import Iterable, Sequence, Set
from contextlib import suppress

import msgspec

from weft.errors import StoreError
from weft.frontier.base import Hold
from weft.frontier.redis.buckets import Buckets
from weft.frontier.redis.layout import Bucket
from weft.frontier.redis.leases import ClientLeases
from weft.frontier.redis.scripts import GIVE_UP, LEASE, GiveUp, Lease
from weft.redis.client import Client

#: How long to try to give leases up when the worker ends.
LEAVE_S = 2.0

# As leases.lua packs it: its token, until when, the last call that was made under it.
_Lease = tuple[float, float, float]


class RedisLeasing:
    def __init__(self, buckets: Buckets, leases: ClientLeases) -> None:
        self._buckets = buckets
        self._client = buckets.client
        self._leases = leases
        self._owner = ""
        self._restarts = self._client.restarts

    async def hold(
        self,
        owner: str,
        wanted: Set[Bucket],
        busy: Set[Bucket],
        *,
        lease_ms: int,
        may_evict: bool,
    ) -> Hold:
        """Keep leases of what is wanted, and of what is busy; try to take what is missing; give the
        rest up."""
        leases = self._leases
        self._owner = owner
        await self._give_up_unknown(wanted)
        leases.are_needed = True
        leases.leaving = {bucket for bucket in leases.tokens if bucket not in wanted}
        await self._give_up([bucket for bucket in leases.leaving if bucket not in busy])
        asked = [*wanted, *leases.leaving]
        now_ms = self._buckets.times.now_ms()
        calls = [
            (bucket, Lease(now_ms, owner, lease_ms, bucket in wanted, may_evict))
            for bucket in asked
        ]
        is_lost, leases.is_refused = leases.is_refused, False
        called: list[str] = []
        for bucket, leased in zip(asked, await self._buckets.run(LEASE, calls), strict=True):
            called += leased.called
            is_lost |= leases.note(bucket, leased.token)
            if leased.is_new:
                self._buckets.note_change([bucket])
        return Hold(_numbers(leases.tokens), _numbers(leases.leaving), is_lost, tuple(called))

    async def keep(self, client: Client, owner: str, lease_ms: int) -> bool:
        """Keep those that we have, over another connection, which may be another thread's; whether
        all are still ours."""
        client.know({LEASE.sha: LEASE.source})
        leases = [*self._leases.tokens.items()]
        call = Lease(0, owner, lease_ms, is_wanted=False, may_evict=False)
        replies = await client.run(
            [LEASE.call(bucket.prefix, bucket.config, call) for bucket, _ in leases]
        )
        kept = zip(leases, replies, strict=True)
        return all(LEASE.read(raw).token == token for (_, token), raw in kept)

    async def _give_up_unknown(self, wanted: Set[Bucket]) -> None:
        """After a restart of the store: it may have gone back to a state in which we had leases
        that we have given up since."""
        restarts = self._client.restarts
        if restarts == self._restarts:
            return
        call = GiveUp(0, self._owner, lease_token=0)
        known = wanted | self._leases.tokens.keys()
        unknown = [bucket for bucket in self._buckets.layout.buckets if bucket not in known]
        await self._buckets.run(GIVE_UP, [(bucket, call) for bucket in unknown])
        self._restarts = restarts

    async def _give_up(self, buckets: Sequence[Bucket]) -> None:
        tokens = self._leases.tokens
        calls = [(bucket, GiveUp(0, self._owner, tokens[bucket])) for bucket in buckets]
        for bucket in buckets:
            # First: `keep` must not miss them, whenever we hear the answer.
            self._leases.drop(bucket)
        if calls:
            await self._buckets.run(GIVE_UP, calls)

    async def leave(self) -> None:
        """Give all up at once; if that takes long, they run out by themselves."""
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(LEAVE_S):
                await self._give_up([*self._leases.tokens])

    async def are_there_any(self) -> bool:
        """Whether a worker has a lease that has not run out."""
        commands = [("HVALS", f"{bucket.prefix}lease") for bucket in self._buckets.layout.buckets]
        [(seconds, _), *found] = await self._client.run([("TIME",), *commands])
        now_ms = self._buckets.times.now_ms() or seconds * 1000
        leases = [msgspec.msgpack.decode(raw, type=_Lease) for each in found for raw in each]
        return any(until_ms > now_ms for _, until_ms, _ in leases)

    async def forget_all(self) -> None:
        """Forget the leases of all workers, for one who knows that none of them lives."""
        buckets = self._buckets.layout.buckets
        await self._client.run([("DEL", f"{bucket.prefix}lease") for bucket in buckets])


def _numbers(buckets: Iterable[Bucket]) -> list[int]:
    return sorted(bucket.number for bucket in buckets)
