"""The frontier on RocksDB: no server, one process, everything on disk.

Each call is one write batch, which RocksDB writes to its log before it answers: the call has
happened or it has not, whenever the process is killed. All calls run in one thread of their own,
one after the other, so a slow disk never holds up the crawl. RocksDB lets only one process open
the store; so whatever is still claimed when it is opened belongs to a process that is dead, and
goes back to its queue at once.

This module puts the parts together: `opening`, `adding`, `claims`, `clearing`, `explain`. What they
share is in `db`, `unit` (one write), `queue`, `line` and `waiting`.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Self, TypeVar, TypeVarTuple

from weft.clock import Clock, SystemClock
from weft.config import FrontierConfig, HostLimits
from weft.errors import StoreError, store_error
from weft.frontier.base import AlsoForget
from weft.frontier.rocks.adding import RocksAdding
from weft.frontier.rocks.claims import RocksClaims
from weft.frontier.rocks.clearing import RocksClearing
from weft.frontier.rocks.db import RocksDb
from weft.frontier.rocks.explain import busiest_hosts, explain
from weft.frontier.rocks.line import ReadyLine
from weft.frontier.rocks.opening import open_rocks, take_host_key, write_host_key
from weft.frontier.rocks.queue import Queues
from weft.frontier.rocks.waiting import RocksWaiting
from weft.records import (
    AddStatus,
    Claims,
    Explanation,
    HostState,
    Hour,
    Outcome,
    PackedRequest,
    PageKind,
    Stats,
    Turns,
    Visit,
)
from weft.thread import WorkThread

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")

#: Fingerprints that one write makes known.
LEARN_BATCH = 10_000

# How many requests had been added when the crawl ended by itself: it means nothing once the
# frontier was cleared, even if the process died right after that.
_FINISHED = b"finished"


class _OpenStore(NamedTuple):
    """What there is while the store is open."""

    rocks: RocksDb
    adding: RocksAdding
    claims: RocksClaims
    waiting: RocksWaiting
    clearing: RocksClearing


class RocksFrontier:
    restarts = 0

    def __init__(
        self,
        path: Path,
        config: FrontierConfig | None = None,
        clock: Clock | None = None,
        rng: random.Random | None = None,
        *,
        is_read_only: bool = False,
    ) -> None:
        self._path = path
        self._config = config or FrontierConfig()
        self._clock = clock or SystemClock()
        self._queues = Queues(self._config.order, rng or random.Random())
        self._is_read_only = is_read_only
        self._thread = WorkThread("weft-frontier")
        self._opened: _OpenStore | None = None
        self.host_key = self._config.host_key

    def limit_hosts(self, limits: Mapping[str, HostLimits | None]) -> None:
        self._config.limit_hosts(limits)

    async def __aenter__(self) -> Self:
        try:
            await self._run(self._open)
        except BaseException:
            self._thread.stop()
            raise
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        try:
            await self._run(self._close)
        finally:
            self._thread.stop()

    def _open(self) -> None:
        rocks = open_rocks(self._path, is_read_only=self._is_read_only)
        wanted = self._config.host_key
        self.host_key = take_host_key(rocks, wanted, is_read_only=self._is_read_only)
        line = ReadyLine(rocks, self._config)
        waiting = RocksWaiting(rocks, self._queues, line)
        claims = RocksClaims(rocks, self._queues, line, waiting, self._config, self._clock)
        self._opened = _OpenStore(
            rocks,
            RocksAdding(rocks, self._queues, line, self._clock),
            claims,
            waiting,
            RocksClearing(rocks, self._queues, line, waiting, self._clock),
        )
        if not self._is_read_only:
            claims.reclaim(None)

    def _close(self) -> None:
        if self._opened is not None:
            self._opened.rocks.db.close()
            self._opened = None

    async def _run(self, call: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
        try:
            return await self._thread.run(call, *arguments)
        except Exception as problem:
            # RocksDB's errors come as bare Exception; of those with a type of their own only
            # OSError speaks of the store.
            if type(problem) is Exception or isinstance(problem, OSError):
                raise store_error(str(self._path), problem) from problem
            raise

    @property
    def _there(self) -> _OpenStore:
        if self._opened is None:
            raise StoreError(f"the store {self._path} is not open")
        return self._opened

    @property
    def _db(self) -> RocksDb:
        return self._there.rocks

    # Beginning and finishing

    async def begin(
        self, *, is_fresh: bool, is_rerun: bool, also_forget: AlsoForget | None = None
    ) -> bool:
        is_over = is_fresh or (is_rerun and (await self.stats()).is_all_done)
        if is_over:
            await self.clear()
            if also_forget:
                await also_forget()
        await self._run(self._set_finished, 0)
        return is_over

    async def mark_finished(self) -> None:
        await self._run(lambda: self._set_finished(self._db.meta().stats.added))

    def _set_finished(self, added: int) -> None:
        self._db.db[_FINISHED] = str(added).encode()

    async def is_finished(self) -> bool:
        return await self._run(self._is_finished)

    def _is_finished(self) -> bool:
        added = self._db.meta().stats.added
        return added > 0 and self._db.db.get(_FINISHED) == str(added).encode()

    async def clear(self, kind: PageKind | None = None) -> None:
        await self._run(self._clear_all if kind is None else lambda: self._clear_kind(kind))

    def _clear_all(self) -> None:
        self._there.clearing.clear_all()
        write_host_key(self._db, self._config.host_key)
        self.host_key = self._config.host_key

    def _clear_kind(self, kind: PageKind) -> None:
        self._there.clearing.clear_kind(kind)

    # Adding

    async def add(self, requests: Sequence[PackedRequest]) -> list[AddStatus]:
        return await self._run(lambda: self._there.adding.add(requests))

    async def learn(self, fingerprints: Sequence[int]) -> None:
        for first in range(0, len(fingerprints), LEARN_BATCH):
            batch = fingerprints[first : first + LEARN_BATCH]
            await self._run(self._there.adding.learn, batch)

    async def fix_keys(self, keys: Sequence[tuple[str, str]]) -> list[str]:
        return await self._run(lambda: self._there.adding.fix_keys(keys))

    # Claims

    async def claim(self, owner: str, limit: int, *, due_for_ms: int = 0) -> Claims:
        return await self._run(lambda: self._there.claims.claim(owner, limit, due_for_ms))

    async def visit(self, owner: str, visits: Sequence[Visit], *, keep_ms: int) -> list[Turns]:
        return await self._run(lambda: self._there.claims.visit(owner, visits, keep_ms))

    async def renew(self, owner: str, tokens: Sequence[int]) -> list[bool]:
        return await self._run(lambda: self._there.claims.renew(owner, tokens))

    async def finish(self, outcomes: Sequence[Outcome]) -> list[bool]:
        return await self._run(lambda: self._there.claims.finish(outcomes))

    async def release(self, tokens: Sequence[int]) -> list[bool]:
        return await self._run(lambda: self._there.claims.release(tokens))

    async def reclaim(self) -> int:
        return await self._run(lambda: self._there.claims.reclaim(self._clock.now_ms()))

    # Looking

    async def stats(self) -> Stats:
        return await self._run(lambda: self._db.meta().stats)

    async def next_due_in_ms(self) -> int | None:
        at_ms = await self._run(lambda: self._there.waiting.next_at_ms())
        return None if at_ms is None else at_ms - self._clock.now_ms()

    async def hours(self) -> list[Hour]:
        return await self._run(lambda: self._db.hours())

    async def hosts(self, limit: int) -> list[HostState]:
        return await self._run(lambda: busiest_hosts(self._db, limit, self._config))

    async def explain(
        self, fingerprints: Sequence[int], host: str | None = None
    ) -> list[Explanation]:
        return await self._run(
            lambda: [explain(self._db, f, host, self._config) for f in fingerprints]
        )

    async def seen_report(self) -> None:
        return None
