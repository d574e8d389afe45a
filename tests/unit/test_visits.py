"""Workers that take turns of hosts, each in its own time, on one frontier."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

import pytest
from scrapy import Request

from weft.clock import monotonic_s
from weft.config import FrontierConfig, HostLimits
from weft.engine.politeness import visits as module
from weft.engine.politeness.gate import Gate, HostBudget
from weft.engine.politeness.visitedhosts import LAZY_S
from weft.engine.politeness.visits import Visits
from weft.errors import StoreError, WeftError
from weft.frontier import MemoryFrontier
from weft.frontier.turns import Visitors
from weft.records import Claims, PackedRequest, Turns, Visit
from weft.testing.waiting import until

pytestmark = pytest.mark.timeout(20)

HOST = "a"
KEEP_S = 1.0


async def yes() -> bool:
    return True


class Store(MemoryFrontier):
    """A frontier that can fail, and notes how often it is asked."""

    def __init__(self, config: FrontierConfig | None = None) -> None:
        super().__init__(config)
        self.problem: Exception | None = None
        self.calls = 0

    async def visit(self, owner: str, visits: Sequence[Visit], *, keep_ms: int) -> list[Turns]:
        await asyncio.sleep(0)
        if self.problem:
            raise self.problem
        self.calls += 1
        return await super().visit(owner, visits, keep_ms=keep_ms)

    @property
    def there(self) -> Visitors:
        return self._visitors.get(HOST, Visitors())


class Worker:
    def __init__(self, store: Store, name: str, limits: HostBudget) -> None:
        self.store = store
        self.name = name
        self.limits = limits
        self.gate = Gate()
        self.visits = Visits(
            store,
            self.gate,
            owner=name,
            concurrency_of=lambda host: limits.concurrency,
            keep_s=KEEP_S,
        )

    async def send_side(self, host: str = HOST) -> Request:
        """A side request, when it has passed the gate."""
        request = Request(f"http://{host}/side")
        with self.visits.turns.side_turn(request, host) as turn:
            assert await self.gate.wait(request, host, lambda: self.limits, turn, yes)
        return request

    async def send_claim(self) -> Request:
        request = Request(f"http://{HOST}/page")
        turns = self.visits.turns
        if not turns.is_free(HOST) or not self.gate.try_pass(request, HOST, self.limits):
            turn = turns.claim_turn(request, HOST)
            assert await self.gate.wait(request, HOST, lambda: self.limits, turn, yes)
        return request

    async def claim(self, count: int = 1) -> Claims:
        claims = await self.store.claim(self.name, count)
        self.visits.note_shared(claims.shared_hosts)
        return claims

    def leave(self, request: Request) -> None:
        self.gate.leave(request)
        self.visits.turns.leave(request)


@asynccontextmanager
async def workers(
    names: str = "me you", *, delay_s: float = 0.0, concurrency: int = 1, **config: Any
) -> AsyncIterator[list[Worker]]:
    store = Store(FrontierConfig(limits=HostLimits(round(delay_s * 1000), concurrency=8), **config))
    pages = [f"http://{HOST}/{number}" for number in range(9)]
    await store.add([PackedRequest(i, url, HOST) for i, url in enumerate(pages, 1)])
    opened = [Worker(store, name, HostBudget(delay_s, concurrency)) for name in names.split()]
    for worker in opened:
        worker.visits.start()
    try:
        yield opened
    finally:
        for worker in opened:
            await worker.visits.close()


async def is_held_up(task: "asyncio.Future[Any]") -> bool:
    await asyncio.sleep(0.05)
    return not task.done()


# One worker


async def test_a_side_request_takes_a_turn_and_gives_it_back() -> None:
    async with workers("me") as [me]:
        request = await me.send_side()
        assert me.store.there.visitors[0].places == 1
        me.leave(request)
        await until(lambda: me.store.there.is_over, "the turn is given back")
        await until(lambda: not [*me.visits._hosts], "the host is forgotten")


async def test_claims_need_no_turns() -> None:
    async with workers("me") as [me]:
        await me.claim()
        me.leave(await me.send_claim())
        assert me.store.calls == 0


async def test_claims_and_side_requests_share_the_room() -> None:
    async with workers("me") as [me]:
        await me.claim()
        page = await me.send_claim()
        waiting = asyncio.ensure_future(me.send_side())
        assert await is_held_up(waiting)
        me.leave(page)
        side = await waiting
        waiting = asyncio.ensure_future(me.send_claim())
        assert await is_held_up(waiting)
        me.leave(side)
        await waiting


async def test_several_side_requests_are_asked_for_at_once() -> None:
    async with workers("me", concurrency=8) as [me]:
        await asyncio.gather(*(me.send_side() for _ in range(8)))
        assert me.store.calls <= 3


async def test_a_turn_is_kept_while_its_request_is_under_way() -> None:
    async with workers() as [me, you]:
        request = await me.send_side()
        waiting = asyncio.ensure_future(you.send_side())
        await asyncio.sleep(1.5 * KEEP_S)
        assert not waiting.done()
        me.leave(request)
        await waiting


async def test_a_turn_that_nobody_wants_any_more_is_given_back() -> None:
    async with workers() as [me, you]:
        request = await me.send_side()
        waiting = asyncio.ensure_future(you.send_side())
        assert await is_held_up(waiting)
        waiting.cancel()
        me.leave(request)
        me.leave(await me.send_side())
        await until(lambda: not any(v.places for v in me.store.there.visitors), "nobody has one")


async def test_a_turn_that_is_too_old_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with workers("me") as [me]:
        watch = [monotonic_s()]
        monkeypatch.setattr(me.visits.turns, "_now_s", lambda: watch[0])
        me.visits._hosts[HOST].turns = 1
        me.visits._hosts[HOST].turns_until_s = watch[0] + 1
        watch[0] += 1
        assert not me.visits.turns.take(Request("http://a/"), HOST)


# Several


async def test_workers_share_the_room() -> None:
    async with workers() as [me, you]:
        request = await me.send_side()
        waiting = asyncio.ensure_future(you.send_side())
        assert await is_held_up(waiting)
        me.leave(request)
        await waiting


async def test_workers_keep_the_delay_together() -> None:
    times_s: list[float] = []

    async def send(worker: Worker) -> None:
        for _ in range(4):
            request = await worker.send_side()
            times_s.append(monotonic_s())
            await asyncio.sleep(0.01)
            worker.leave(request)

    async with workers(delay_s=0.05, concurrency=8) as both:
        await asyncio.gather(*map(send, both))
    gaps = [later - earlier for earlier, later in pairwise(times_s)]
    assert min(gaps) > 0.045


async def test_others_wait_for_a_request_that_is_still_connecting() -> None:
    delay_s = 0.05
    async with workers(delay_s=delay_s, concurrency=8) as [me, you]:
        connecting = await me.send_side()
        waiting = asyncio.ensure_future(you.send_side())
        await asyncio.sleep(2 * LAZY_S)
        assert not waiting.done()
        assert me.gate.hold_s(connecting) == 0
        sent_at_s = monotonic_s()
        me.visits.turns.note_sent(connecting)
        await waiting
        assert monotonic_s() - sent_at_s > 0.9 * delay_s


async def test_the_owner_of_a_host_takes_turns_when_it_is_called() -> None:
    async with workers() as [owner, you]:
        await owner.claim(3)
        page = await owner.send_claim()
        waiting = asyncio.ensure_future(you.send_side())
        assert await is_held_up(waiting)
        owner.leave(page)
        # It may send another at any time: nobody else can.
        assert await is_held_up(waiting)
        owner.visits.note_shared([HOST])
        side = await waiting
        page_waiting = asyncio.ensure_future(owner.send_claim())
        assert await is_held_up(page_waiting)
        you.leave(side)
        await page_waiting


async def test_what_the_owner_has_under_way_when_it_is_called_counts() -> None:
    async with workers() as [owner, you]:
        await owner.claim(3)
        page = await owner.send_claim()
        waiting = asyncio.ensure_future(you.send_side())
        assert await is_held_up(waiting)
        owner.visits.note_shared([HOST])
        assert await is_held_up(waiting)
        owner.leave(page)
        await waiting


async def test_claims_of_a_host_with_visitors_take_turns() -> None:
    async with workers() as [owner, you]:
        side = await you.send_side()
        await owner.claim()
        waiting = asyncio.ensure_future(owner.send_claim())
        assert await is_held_up(waiting)
        you.leave(side)
        await waiting


async def test_who_waits_longest_is_served_first() -> None:
    order: list[str] = []

    async def send(worker: Worker) -> None:
        for _ in range(3):
            request = await worker.send_side()
            order.append(worker.name)
            await asyncio.sleep(0.02)
            worker.leave(request)

    async with workers() as both:
        await asyncio.gather(*map(send, both))
    assert order[1:5] in (["me", "you"] * 2, ["you", "me"] * 2)


async def test_claims_need_no_turns_when_the_host_is_not_shared_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("weft.frontier.turns.SHARED_MS", 50)
    async with workers() as [owner, you]:
        you.leave(await you.send_side())
        await owner.claim()
        assert not owner.visits.turns.is_free(HOST)
        await until(lambda: owner.visits.turns.is_free(HOST), "it is not shared any more")
        await owner.send_claim()


async def test_a_call_that_comes_while_we_ask_is_not_forgotten() -> None:
    async with workers("me") as [me]:
        me.visits.note_shared([HOST])
        known = me.visits._hosts[HOST]
        calls = known.calls
        me.visits.note_shared([HOST])
        me.visits._note_sharing(HOST, known, calls, 0)
        assert not me.visits.turns.is_free(HOST)
        me.visits._note_sharing(HOST, known, known.calls, 0)
        assert me.visits.turns.is_free(HOST)


# Pauses and delays


async def test_a_pause_that_one_is_asked_for_is_told_to_the_other() -> None:
    paused: dict[str, int] = {}
    async with workers(backoff_ms=5_000) as [me, you]:
        you.visits.after_pause = paused.__setitem__
        me.leave(await me.send_side())
        me.visits.note_answer(HOST, 503, 0)
        me.visits.note_answer(HOST, 200, 0)  # it was under way with that one
        waiting = asyncio.ensure_future(you.send_side())
        await until(lambda: HOST in paused, "it hears of the pause")
        assert 4_000 < paused[HOST] <= 5_000
        assert await is_held_up(waiting)
        waiting.cancel()


async def test_retry_after_and_crawl_delay_are_told() -> None:
    async with workers("me") as [me]:
        me.visits.note_answer(HOST, 429, 30_000)
        me.visits.note_answer(HOST, 429, 20_000)
        me.visits.note_crawl_delay(HOST, 7_000)
        await until(lambda: me.store._hosts[HOST].is_pausing, "it is told")
        [state] = await me.store.hosts(1)
        assert (state.delay_ms, state.backoff) == (7_000, 1)
        assert state.next_at_ms > me.store._clock.now_ms() + 29_000


# Failures


async def test_a_store_that_fails_ends_the_crawl() -> None:
    errors: list[WeftError] = []
    async with workers("me") as [me]:
        me.visits.after_error = errors.append
        me.store.problem = StoreError("it is gone")
        waiting = asyncio.ensure_future(me.send_side())
        await until(lambda: bool(errors), "it is told")
        waiting.cancel()
        assert errors == [me.store.problem]


async def test_a_bug_of_ours_ends_the_crawl(caplog: pytest.LogCaptureFixture) -> None:
    errors: list[WeftError] = []
    async with workers("me") as [me]:
        me.visits.after_error = errors.append
        me.store.problem = KeyError("oops")
        waiting = asyncio.ensure_future(me.send_side())
        await until(lambda: bool(errors), "it is told")
        waiting.cancel()
        assert "oops" in str(errors[0])
        me.store.problem = None
    assert "the visits failed" in caplog.text


async def test_who_leaves_gives_all_turns_back(monkeypatch: pytest.MonkeyPatch) -> None:
    async with workers() as [me, you]:
        await me.send_side()
        await me.visits.close()
        await you.send_side()


async def test_leaving_does_not_wait_for_a_store_that_is_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "LEAVE_S", 0.05)
    async with workers("me") as [me]:
        await me.send_side()

        async def never(*args: Any, **named: Any) -> list[Turns]:
            await asyncio.Event().wait()
            return []

        monkeypatch.setattr(me.store, "visit", never)
        await me.visits.close()
