"""Workers for tests: each between a frontier and a sink, driven as a scheduler would drive it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from weft.clock import monotonic_s
from weft.config import FrontierConfig, HostLimits
from weft.engine.claims import pace
from weft.engine.claims.assembly import make_claim_parts
from weft.engine.claims.delivery import Delivery
from weft.engine.claims.rounds import Rounds
from weft.frontier import MemoryFrontier
from weft.records import AddStatus, Claim, Claims, Ending, Outcome, PackedRequest, Stats
from weft.sinks import KeyedItem, Refusal, SinkConfig
from weft.sinks.archive import Archive
from weft.sinks.deadletters import DeadLetters
from weft.testing.clock import FakeClock
from weft.urls import fingerprint, host_key

CLAIM_MS = 120_000
CONFIG = FrontierConfig(limits=HostLimits(concurrency=100), claim_ms=CLAIM_MS)


def nothing() -> None:
    pass


def shorten_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let rounds follow each other at once, and keep few claims ready."""
    monkeypatch.setattr(pace, "ROUND_S", 0.0)
    monkeypatch.setattr(pace, "EASY_ROUND_S", 0.0)
    monkeypatch.setattr(pace, "MIN_READY", 2)
    monkeypatch.setattr(pace, "IDLE_ROUND_S", 0.001)


class Door(MemoryFrontier):
    """How one worker reaches a frontier, which others may share.

    It records the calls, and can be made to fail, to be away, or to let something happen meanwhile.
    """

    def __init__(self, frontier: MemoryFrontier, calls: list[str]) -> None:
        super().__init__()
        self._frontier = frontier
        self.restarts = 0
        self.calls = calls
        self.renewed: list[list[int]] = []
        self.looks = 0
        self.outcomes: list[Outcome] = []
        self.is_open = asyncio.Event()
        self.is_open.set()
        self.error: Exception | None = None
        self._is_restarting = False
        self.before_add: Callable[[], None] = nothing
        self.after_finish: Callable[[], None] = nothing
        self.after_stats: Callable[[], Coroutine[Any, Any, object]] = lambda: asyncio.sleep(0)

    async def _enter(self, call: str = "") -> None:
        if call:
            self.calls.append(call)
        await self.is_open.wait()
        if self.error is not None:
            raise self.error

    async def add(self, requests: Sequence[PackedRequest]) -> list[AddStatus]:
        await self._enter(f"add {len(requests)}")
        self.before_add()
        return await self._frontier.add(requests)

    async def claim(self, owner: str, limit: int, *, due_for_ms: int = 0) -> Claims:
        await self._enter(f"claim {limit}")
        return await self._frontier.claim(owner, limit, due_for_ms=due_for_ms)

    async def renew(self, owner: str, tokens: Sequence[int]) -> list[bool]:
        await self._enter()
        self.renewed.append(list(tokens))
        return await self._frontier.renew(owner, tokens)

    def restart_before_finish(self) -> None:
        """The next call of `finish` meets a store that was restarted."""
        self._is_restarting = True

    async def finish(self, outcomes: Sequence[Outcome]) -> list[bool]:
        await self._enter(f"finish {len(outcomes)}")
        if self._is_restarting:
            self._is_restarting = False
            self.restarts += 1
            return [False] * len(outcomes)
        self.outcomes += outcomes
        answers = await self._frontier.finish(outcomes)
        self.after_finish()
        return answers

    async def release(self, tokens: Sequence[int]) -> list[bool]:
        await self._enter(f"release {len(tokens)}")
        return await self._frontier.release(tokens)

    async def reclaim(self) -> int:
        await self._enter()
        return await self._frontier.reclaim()

    async def stats(self) -> Stats:
        await self._enter()
        self.looks += 1
        stats = await self._frontier.stats()
        await self.after_stats()
        return stats


class MemorySink:
    place = "memory"

    def __init__(self, calls: list[str]) -> None:
        self.calls = calls
        self.items: list[KeyedItem] = []
        self.error: Exception | None = None
        self.after_store: Callable[[], None] = nothing

    async def open(self) -> None: ...

    async def store(self, items: Sequence[KeyedItem]) -> Sequence[Refusal]:
        self.calls.append(f"store {len(items)}")
        if self.error is not None:
            raise self.error
        self.items += items
        self.after_store()
        return ()

    async def clear(self) -> None: ...

    async def close(self) -> None: ...


class Site:
    """A frontier that workers share, and its clock."""

    def __init__(self, config: FrontierConfig = CONFIG) -> None:
        self.config = config
        self.clock = FakeClock()
        self.frontier = MemoryFrontier(config, self.clock)


class Crawl:
    """A worker between a frontier and a sink, and what a scheduler would do with it."""

    def __init__(
        self, site: Site | None = None, owner: str = "me", archives: Sequence[Archive] = ()
    ) -> None:
        site = site or Site()
        self.calls: list[str] = []
        self.clock = site.clock
        self.frontier = site.frontier
        self.door = Door(site.frontier, self.calls)
        self.sink = MemorySink(self.calls)
        self.dead_letters = DeadLetters(SinkConfig(Path("nowhere")))
        self.delivery = Delivery([self.sink], self.dead_letters, archives)
        self.sent_ago_ms: dict[str, int] = {}

        def now_s() -> float:
            """Real seconds go by, and those of the clock when it is advanced."""
            return monotonic_s() + site.clock.now_ms() / 1000

        parts = make_claim_parts(
            self.door,
            self.delivery,
            owner=owner,
            capacity=4,
            config=site.config,
            concurrency_of=lambda host: 2,
            sent_ago_ms=self.sent_ago_ms.get,
            now_s=now_s,
        )
        self.activity = parts.activity
        self.hand = parts.hand
        self.buffer = parts.buffer
        self.returns = parts.returns
        self.renewals = parts.renewals
        self.supply = parts.supply
        self.ready = parts.ready
        self.claimer = parts.claimer
        self.storing = parts.storing
        self.restarts = parts.restarts
        self.finisher = parts.finisher
        self.settling = parts.settling
        self.rounds = Rounds(parts, now_s)
        self.rounds.after_round = self._count
        self.rounds_ended = 0
        self.on_round: Callable[[], None] = nothing
        self._round_ended = asyncio.Event()

    def _count(self) -> None:
        self.rounds_ended += 1
        self.on_round()
        self._round_ended.set()

    async def round_ended(self) -> None:
        self._round_ended.clear()
        await self._round_ended.wait()

    async def next_round(self) -> None:
        """Until a round has begun and ended."""
        # The one that is under way may have taken what there was before we put something in.
        wanted = self.rounds_ended + 2
        while self.rounds_ended < wanted and self.rounds.error is None:
            await self.round_ended()

    async def taken(self) -> Claim:
        while (claim := self.supply.take()) is None:
            await self.next_round()
        return claim

    async def finished(self) -> None:
        while not self.activity.is_finished:
            await self.next_round()

    def end(self, claim: Claim) -> None:
        self.supply.downloaded(claim.request.host)
        self.buffer.put_outcome(Outcome(claim.token, Ending.DONE, 200))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        rounds = asyncio.ensure_future(self.rounds.run())
        try:
            yield
        finally:
            self.door.is_open.set()
            self.delivery.hurry()
            self.rounds.stop()
            await rounds


def link(url: str) -> PackedRequest:
    return PackedRequest(fingerprint(url), url, host_key(url))


def links(host: str, count: int) -> list[PackedRequest]:
    return [link(f"http://{host}/{number}") for number in range(count)]


def item(number: int) -> KeyedItem:
    return KeyedItem(number.to_bytes(16, "big"), {"number": number})
