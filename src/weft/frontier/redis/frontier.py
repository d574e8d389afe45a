"""The frontier on Redis: one for any number of workers on any number of machines.

Hosts are divided into buckets. A verb is one Lua script, called for each bucket that it concerns,
all in one round trip; for a bucket it happens completely or not at all. Time is Redis' own.
Requests are opaque to the scripts: they are packed and read here.

This module puts the parts together, a module for each group of verbs: `adding`, `leasing`,
`claiming`, `ending`, `visiting`, `looking`, `clearing`. What they share is in `buckets`.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Self

from weft.clock import Clock
from weft.config import FrontierConfig, HostLimits
from weft.frontier.base import AlsoForget, Hold
from weft.frontier.redis import scripts
from weft.frontier.redis.adding import RedisAdding
from weft.frontier.redis.buckets import Buckets, Times
from weft.frontier.redis.claiming import RedisClaiming
from weft.frontier.redis.clearing import RedisClearing
from weft.frontier.redis.ending import RedisEnding
from weft.frontier.redis.fixedkeys import FixedKeys
from weft.frontier.redis.job import StoredJob
from weft.frontier.redis.known import KnownSets
from weft.frontier.redis.leases import ClientLeases
from weft.frontier.redis.leasing import RedisLeasing
from weft.frontier.redis.looking import RedisLooking
from weft.frontier.redis.ownclaims import ClientClaims
from weft.frontier.redis.visiting import RedisVisiting
from weft.frontier.store import Store
from weft.records import (
    AddStatus,
    Claims,
    Explanation,
    HostKey,
    HostState,
    Hour,
    Outcome,
    PackedRequest,
    PageKind,
    SeenReport,
    Stats,
    Strategy,
    Turns,
    Visit,
)
from weft.redis.client import DEFAULT_PATIENCE_S, SHORT_PATIENCE_S, Client


class RedisFrontier:
    """Serves all buckets, until `hold` is called: then those that it has leases of. `clock` is for
    tests; without it Redis' own counts."""

    def __init__(
        self,
        url: str,
        job: str,
        config: FrontierConfig | None = None,
        clock: Clock | None = None,
        *,
        is_read_only: bool = False,
    ) -> None:
        self._config = config or FrontierConfig()
        self._is_read_only = is_read_only
        patience_s = SHORT_PATIENCE_S if is_read_only else DEFAULT_PATIENCE_S
        self._client = Client(url, patience_s=patience_s)
        self._client.know(scripts.SOURCES)
        self._job = StoredJob(self._client, job, Store(url).place)
        self._known = KnownSets(self._client, job)
        self._fixed_keys = FixedKeys(self._client, job)
        self._leases = ClientLeases()
        # A lease is not given up while claims are being made under it.
        self._lease_lock = asyncio.Lock()
        self._own = ClientClaims()
        self._buckets = buckets = Buckets(self._client, job, self._config, Times(clock))
        self._leasing = RedisLeasing(buckets, self._leases)
        self._adding = RedisAdding(buckets, self._known)
        self._ending = RedisEnding(buckets, self._job, self._leases, self._own)
        self._claiming = RedisClaiming(
            buckets, self._job, self._leases, self._own, self._ending.release
        )
        self._visiting = RedisVisiting(buckets)
        self._looking = RedisLooking(buckets)
        self._clearing = RedisClearing(buckets, self._job, self._known, self._own)

    @property
    def restarts(self) -> int:
        return self._client.restarts

    @property
    def host_key(self) -> HostKey:
        return self._buckets.layout.shape.host_key

    def limit_hosts(self, limits: Mapping[str, HostLimits | None]) -> None:
        self._buckets.limit_hosts(limits)

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        try:
            if self._is_read_only:
                self._buckets.adopt(await self._job.look())
            else:
                await self._open_job()
            await self._known.load()
        except BaseException:
            await self._client.__aexit__()
            raise
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        try:
            await self._leasing.leave()
        finally:
            await self._client.__aexit__()

    async def _open_job(self) -> None:
        self._buckets.adopt(await self._job.open(self._config.shared))

    # Beginning and finishing

    async def begin(
        self, *, is_fresh: bool, is_rerun: bool, also_forget: AlsoForget | None = None
    ) -> bool:
        if self._job.run is None:
            await self._open_job()
        # First: if another clears from now on, its run is a new one.
        stats_run = await self._job.clearing.settled_run()
        is_over, shape = await self._job.begin(
            self._buckets.times.now_ms(),
            await self.stats(),
            stats_run=stats_run,
            is_served=await self._leasing.are_there_any(),
            is_fresh=is_fresh,
            is_rerun=is_rerun,
        )
        self._buckets.adopt(shape)
        if not is_over:
            await self._known.load()
            return False
        await self._clearing.clear_all(is_long=True)
        if also_forget:
            await also_forget()
        await self._job.end_clearing(self._config.shared)
        self._buckets.adopt(self._config.shared)
        return True

    async def mark_finished(self) -> None:
        added = (await self.stats()).added
        if self._job.run is not None and added:
            await self._job.record.mark_finished(added)

    async def is_finished(self) -> bool:
        return await self._job.record.is_finished((await self.stats()).added)

    async def clear(self, kind: PageKind | None = None) -> None:
        if kind is None:
            await self._clearing.clear_all()
            await self._job.forget()
        else:
            await self._clearing.clear_kind(kind)

    # Adding

    async def add(self, requests: Sequence[PackedRequest]) -> list[AddStatus]:
        if requests and self._job.run is None:  # it was cleared
            await self._open_job()
        return await self._adding.add(requests)

    async def learn(self, fingerprints: Sequence[int]) -> None:
        if self._job.run is None:  # it was cleared
            await self._open_job()
        await self._known.learn(fingerprints)

    async def fix_keys(self, keys: Sequence[tuple[str, str]]) -> list[str]:
        return await self._fixed_keys.fix(keys)

    # Leases

    @property
    def buckets(self) -> int:
        return len(self._buckets.layout.buckets)

    @property
    def assignment(self) -> Strategy:
        return self._buckets.layout.shape.assignment

    @property
    def virtual_nodes(self) -> int:
        return self._buckets.layout.shape.virtual_nodes

    @property
    def project(self) -> str:
        return self._buckets.layout.shape.project

    async def hold(
        self,
        owner: str,
        wanted: Collection[int],
        *,
        lease_ms: int,
        may_evict: bool,
        sharers: int,
    ) -> Hold:
        layout = self._buckets.layout
        chosen = {layout.buckets[number] for number in wanted}
        async with self._lease_lock:
            self._claiming.sharers = sharers
            busy = {layout.bucket_of_token(token) for token in self._own}
            return await self._leasing.hold(
                owner, chosen, busy, lease_ms=lease_ms, may_evict=may_evict
            )

    async def keep_leases(self, client: Client, owner: str, lease_ms: int) -> bool:
        return await self._leasing.keep(client, owner, lease_ms)

    def leaving(self, tokens: Iterable[int]) -> list[int]:
        bucket_of = self._buckets.layout.bucket_of_token
        return [token for token in tokens if bucket_of(token) in self._leases.leaving]

    async def forget_leases(self) -> None:
        """For one who knows that no worker lives: who takes a bucket then has their claims."""
        await self._leasing.forget_all()

    # Claims

    async def claim(self, owner: str, limit: int, *, due_for_ms: int = 0) -> Claims:
        async with self._lease_lock:
            return await self._claiming.claim(owner, limit, due_for_ms=due_for_ms)

    async def renew(self, owner: str, tokens: Sequence[int]) -> list[bool]:
        return await self._ending.renew(owner, tokens)

    async def finish(self, outcomes: Sequence[Outcome]) -> list[bool]:
        return await self._ending.finish(outcomes)

    async def release(self, tokens: Sequence[int]) -> list[bool]:
        return await self._ending.release(tokens)

    async def reclaim(self) -> int:
        return await self._ending.reclaim()

    async def visit(self, owner: str, visits: Sequence[Visit], *, keep_ms: int) -> list[Turns]:
        return await self._visiting.visit(owner, visits, keep_ms=keep_ms)

    # Looking

    async def stats(self) -> Stats:
        return await self._looking.stats()

    async def next_due_in_ms(self) -> int | None:
        return await self._looking.next_due_in_ms()

    async def hours(self) -> list[Hour]:
        return await self._looking.hours()

    async def hosts(self, limit: int) -> list[HostState]:
        return await self._looking.hosts(limit)

    async def explain(
        self, fingerprints: Sequence[int], host: str | None = None
    ) -> list[Explanation]:
        return await self._looking.explain(fingerprints, host)

    async def seen_report(self) -> SeenReport:
        """How much the seen sets hold; for a Bloom filter its fill and its error too."""
        return await self._looking.seen_report()
