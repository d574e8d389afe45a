import asyncio
import time
from collections.abc import Awaitable, Callable
from itertools import pairwise

import pytest
from scrapy import Request

from weft.clock import monotonic_s
from weft.engine.politeness import gate as module
from weft.engine.politeness import sendtimes
from weft.engine.politeness.gate import Gate, HostBudget

pytestmark = pytest.mark.timeout(20)

DELAY_S = 0.02


def request() -> Request:
    return Request("http://a/")


def try_pass(gate: Gate, host: str, delay_s: float, concurrency: int = 99) -> bool:
    return gate.try_pass(request(), host, HostBudget(delay_s, concurrency))


class Turn:
    """It can be had when it is there."""

    def __init__(self, *, is_there: bool = True) -> None:
        self.is_there = is_there

    def take(self) -> bool:
        return self.is_there

    async def wait(self) -> None:
        await asyncio.sleep(0.001)


AT_ONCE = Turn()


async def wait(
    gate: Gate,
    host: str,
    delay_s: float,
    may_send: Callable[[], Awaitable[bool]],
    turn: Turn = AT_ONCE,
) -> bool:
    return await gate.wait(request(), host, lambda: HostBudget(delay_s, 99), turn, may_send)


class Watch:
    """Seconds that pass only when they are told to."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def gate(watch: Watch) -> Gate:
    return Gate(watch)


def test_the_first_request_of_a_host_passes_at_once(gate: Gate) -> None:
    assert try_pass(gate, "a", 10)
    assert try_pass(gate, "b", 10)


def test_the_next_passes_after_the_delay(gate: Gate, watch: Watch) -> None:
    assert try_pass(gate, "a", 10)
    watch.now_s += 9.9
    assert not try_pass(gate, "a", 10)
    watch.now_s += 0.1
    assert try_pass(gate, "a", 10)
    assert not try_pass(gate, "a", 10)


def test_without_a_delay_all_pass(gate: Gate) -> None:
    assert all(try_pass(gate, "a", 0) for _ in range(4))


def test_the_delay_counts_from_the_request_before(gate: Gate) -> None:
    assert try_pass(gate, "a", 0)
    assert not try_pass(gate, "a", 10)
    assert try_pass(gate, "a", 0)


def test_a_request_that_was_held_up_moves_the_next(gate: Gate, watch: Watch) -> None:
    gate.times.note_sent("a", ago_s=4)
    watch.now_s += 5.9
    assert not try_pass(gate, "a", 10)
    watch.now_s += 0.2
    assert try_pass(gate, "a", 10)


def test_an_older_request_does_not_bring_the_next_forward(gate: Gate, watch: Watch) -> None:
    try_pass(gate, "a", 10)
    gate.times.note_sent("a", ago_s=4)
    watch.now_s += 6.1
    assert not try_pass(gate, "a", 10)


def test_how_long_ago_the_last_was_sent(gate: Gate, watch: Watch) -> None:
    assert gate.times.ago_ms("a") is None
    try_pass(gate, "a", 0)
    assert gate.times.ago_ms("a") == 0
    watch.now_s += 1.5
    assert gate.times.ago_ms("a") == 1500
    gate.times.note_sent("a", ago_s=0.5)
    assert gate.times.ago_ms("a") == 500
    assert gate.times.ago_ms("b") is None


def test_the_host_that_was_fetched_longest_ago_is_forgotten(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sendtimes, "MAX_HOSTS", 2)
    for host in ("a", "b", "a", "c"):  # b goes
        try_pass(gate, host, 0)
    assert [try_pass(gate, host, 10) for host in "acb"] == [False, False, True]


# Standing in line


async def yes() -> bool:
    return True


async def no() -> bool:
    return False


async def send_all(gate: Gate, count: int, meanwhile: Callable[[], None]) -> list[float]:
    """The times at which so many requests of one host passed."""

    async def send() -> float:
        assert await wait(gate, "a", DELAY_S, yes)
        return gate.times._last_at_s["a"]

    sending = asyncio.gather(*(send() for _ in range(count)))
    await asyncio.sleep(DELAY_S / 2)
    meanwhile()
    return await sending


def check_apart(times: list[float]) -> None:
    assert times == sorted(times)
    assert all(later - earlier >= DELAY_S for earlier, later in pairwise(times))


async def test_those_in_line_pass_a_delay_apart() -> None:
    gate = Gate()
    check_apart(await send_all(gate, 4, lambda: None))


async def test_those_in_line_are_a_delay_apart_after_the_process_was_stopped() -> None:
    gate = Gate()
    check_apart(await send_all(gate, 4, lambda: time.sleep(4 * DELAY_S)))


async def test_nobody_overtakes_those_in_line() -> None:
    gate = Gate()
    try_pass(gate, "a", 0)
    waiting = asyncio.ensure_future(wait(gate, "a", DELAY_S, yes))
    await asyncio.sleep(0)
    assert not try_pass(gate, "a", 0)
    assert try_pass(gate, "b", 0)
    assert await waiting
    assert try_pass(gate, "a", 0)


async def test_one_that_may_not_be_sent_does_not_count() -> None:
    gate = Gate()
    assert not await wait(gate, "a", 10, no)
    assert gate.times.ago_ms("a") is None
    assert try_pass(gate, "a", 10)


async def test_it_is_asked_when_its_turn_has_come_and_the_others_wait_for_the_answer() -> None:
    gate = Gate()
    answer = asyncio.Event()
    asked: asyncio.Queue[int] = asyncio.Queue()

    async def may_send() -> bool:
        ago_ms = gate.times.ago_ms("a")
        assert ago_ms is not None
        if ago_ms < 1000 * DELAY_S - 1:
            return True  # not its turn yet
        asked.put_nowait(ago_ms)
        return await answer.wait()

    try_pass(gate, "a", 0)
    first = asyncio.ensure_future(wait(gate, "a", DELAY_S, may_send))
    second = asyncio.ensure_future(wait(gate, "a", 0, yes))
    await asked.get()
    await asyncio.sleep(DELAY_S)
    assert not first.done()
    assert not second.done()
    answer.set()
    assert await first
    assert await second


async def test_one_that_may_no_longer_be_sent_does_not_wait_for_its_turn() -> None:
    gate = Gate()

    async def no() -> bool:
        return False

    try_pass(gate, "a", 0)
    started_s = monotonic_s()
    assert not await wait(gate, "a", 3600, no)
    assert monotonic_s() - started_s < 5


async def test_one_that_goes_away_does_not_hold_up_the_others() -> None:
    gate = Gate()
    try_pass(gate, "a", 0)
    first = asyncio.ensure_future(wait(gate, "a", 3600, yes))
    second = asyncio.ensure_future(wait(gate, "a", 0, yes))
    await asyncio.sleep(0)
    first.cancel()
    assert await second
    assert try_pass(gate, "a", 0)


# Room


async def test_no_more_pass_than_a_host_allows() -> None:
    gate = Gate()
    first, second, third = (request() for _ in range(3))
    limits = HostBudget(0, 2)
    assert gate.try_pass(first, "a", limits)
    assert gate.try_pass(second, "a", limits)
    assert not gate.try_pass(third, "a", limits)
    assert gate.under_way("a") == 2
    waiting = asyncio.ensure_future(gate.wait(third, "a", lambda: limits, AT_ONCE, yes))
    await asyncio.sleep(DELAY_S)
    assert not waiting.done()
    assert gate.standing("a") == 1
    assert gate.try_pass(request(), "b", limits)
    gate.leave(second)
    assert await waiting
    assert gate.under_way("a") == 2


def test_hosts_that_nobody_is_under_way_to_are_forgotten(gate: Gate) -> None:
    one, other = request(), request()
    assert gate.try_pass(one, "a", HostBudget(0, 1))
    gate.leave(one)
    gate.leave(one)
    gate.leave(other)  # it never passed
    assert (gate.under_way("a"), gate.standing("a")) == (0, 0)
    assert not gate._counts
    assert not gate._under_way


# Turns


async def test_who_needs_a_turn_waits_for_it_first_in_line() -> None:
    gate = Gate()
    turn = Turn(is_there=False)
    first = asyncio.ensure_future(wait(gate, "a", 0, yes, turn))
    second = asyncio.ensure_future(wait(gate, "a", 0, yes))
    await asyncio.sleep(DELAY_S)
    assert not first.done()
    assert not second.done()
    assert gate.times.ago_ms("a") is None
    turn.is_there = True
    assert await first
    assert await second


async def test_a_turn_is_taken_after_the_delay_only() -> None:
    gate = Gate()
    taken: list[float] = []

    class Noted(Turn):
        def take(self) -> bool:
            taken.append(time.monotonic())
            return True

    try_pass(gate, "a", 0)
    sent_at_s = time.monotonic()
    assert await wait(gate, "a", DELAY_S, yes, Noted())
    assert len(taken) == 1
    assert taken[0] - sent_at_s > 0.9 * DELAY_S


# Sending what has passed


def test_one_that_took_long_to_connect_is_not_sent_right_after_another(
    gate: Gate, watch: Watch
) -> None:
    slow, quick, third = (request() for _ in range(3))
    budget = HostBudget(10, 99)
    assert gate.try_pass(slow, "a", budget)
    watch.now_s += 10
    assert gate.try_pass(quick, "a", budget)
    assert gate.hold_s(quick) == 0
    watch.now_s += 4
    assert gate.hold_s(slow) == 6
    watch.now_s += 6
    assert gate.hold_s(slow) == 0
    assert not gate.try_pass(third, "a", budget)
    watch.now_s += 10
    assert gate.try_pass(third, "a", budget)
    assert gate.hold_s(third) == 0


def test_one_that_is_sent_again_waits_for_the_delay_as_well(gate: Gate, watch: Watch) -> None:
    again = request()
    assert gate.try_pass(again, "a", HostBudget(10, 99))
    assert gate.hold_s(again) == 0
    watch.now_s += 1
    assert gate.hold_s(again) == 9


def test_without_a_delay_nothing_is_held_back(gate: Gate) -> None:
    requests = [request() for _ in range(3)]
    assert all(gate.try_pass(each, "a", HostBudget(0, 99)) for each in requests)
    assert [gate.hold_s(each) for each in requests] == [0, 0, 0]
    assert gate.hold_s(request()) == 0  # it never passed
    assert gate.unsent("a") == 0


def test_what_has_passed_and_is_not_sent_is_known_for_a_while(gate: Gate, watch: Watch) -> None:
    budget = HostBudget(1, 99)
    sent, gone, slow = (request() for _ in range(3))
    for each in (sent, gone, slow):
        assert gate.try_pass(each, "a", budget)
        watch.now_s += 1
    assert (gate.unsent("a"), gate.unsent("b")) == (3, 0)
    assert gate.hold_s(sent) == 0
    gate.leave(gone)
    assert gate.unsent("a") == 1
    watch.now_s += module.UNSENT_S
    assert gate.unsent("a") == 0
    gate.leave(slow)
    assert not gate._unsent
