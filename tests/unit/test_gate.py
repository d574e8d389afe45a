import asyncio
import time
from collections.abc import Callable
from itertools import pairwise

import pytest

from weft.clock import monotonic_s
from weft.engine import gate as module
from weft.engine.gate import Gate

pytestmark = pytest.mark.timeout(20)

DELAY_S = 0.02


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
    assert gate.try_pass("a", 10)
    assert gate.try_pass("b", 10)


def test_the_next_passes_after_the_delay(gate: Gate, watch: Watch) -> None:
    assert gate.try_pass("a", 10)
    watch.now_s += 9.9
    assert not gate.try_pass("a", 10)
    watch.now_s += 0.1
    assert gate.try_pass("a", 10)
    assert not gate.try_pass("a", 10)


def test_without_a_delay_all_pass(gate: Gate) -> None:
    assert all(gate.try_pass("a", 0) for _ in range(4))


def test_the_delay_counts_from_the_request_before(gate: Gate) -> None:
    assert gate.try_pass("a", 0)
    assert not gate.try_pass("a", 10)
    assert gate.try_pass("a", 0)


def test_a_request_that_was_held_up_moves_the_next(gate: Gate, watch: Watch) -> None:
    gate.note_sent("a", ago_s=4)
    watch.now_s += 5.9
    assert not gate.try_pass("a", 10)
    watch.now_s += 0.2
    assert gate.try_pass("a", 10)


def test_an_older_request_does_not_bring_the_next_forward(gate: Gate, watch: Watch) -> None:
    gate.try_pass("a", 10)
    gate.note_sent("a", ago_s=4)
    watch.now_s += 6.1
    assert not gate.try_pass("a", 10)


def test_how_long_ago_the_last_was_sent(gate: Gate, watch: Watch) -> None:
    assert gate.sent_ago_ms("a") is None
    gate.try_pass("a", 0)
    assert gate.sent_ago_ms("a") == 0
    watch.now_s += 1.5
    assert gate.sent_ago_ms("a") == 1500
    gate.note_sent("a", ago_s=0.5)
    assert gate.sent_ago_ms("a") == 500
    assert gate.sent_ago_ms("b") is None


def test_the_host_that_was_fetched_longest_ago_is_forgotten(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_HOSTS", 2)
    for host in ("a", "b", "a", "c"):  # b goes
        gate.try_pass(host, 0)
    assert [gate.try_pass(host, 10) for host in "acb"] == [False, False, True]


# Standing in line


async def yes() -> bool:
    return True


async def no() -> bool:
    return False


async def send_all(gate: Gate, count: int, meanwhile: Callable[[], None]) -> list[float]:
    """The times at which so many requests of one host passed."""

    async def send() -> float:
        assert await gate.wait("a", DELAY_S, yes)
        return time.monotonic()

    sending = asyncio.gather(*(send() for _ in range(count)))
    await asyncio.sleep(DELAY_S / 2)
    meanwhile()
    return await sending


def check_apart(times: list[float]) -> None:
    assert times == sorted(times)
    # The moment of passing is noted before the one that we see.
    assert all(later - earlier > 0.9 * DELAY_S for earlier, later in pairwise(times))


async def test_those_in_line_pass_a_delay_apart() -> None:
    gate = Gate()
    check_apart(await send_all(gate, 4, lambda: None))


async def test_those_in_line_are_a_delay_apart_after_the_process_was_stopped() -> None:
    gate = Gate()
    check_apart(await send_all(gate, 4, lambda: time.sleep(4 * DELAY_S)))


async def test_nobody_overtakes_those_in_line() -> None:
    gate = Gate()
    gate.try_pass("a", 0)
    waiting = asyncio.ensure_future(gate.wait("a", DELAY_S, yes))
    await asyncio.sleep(0)
    assert not gate.try_pass("a", 0)
    assert gate.try_pass("b", 0)
    assert await waiting
    assert gate.try_pass("a", 0)


async def test_one_that_may_not_be_sent_does_not_count() -> None:
    gate = Gate()
    assert not await gate.wait("a", 10, no)
    assert gate.sent_ago_ms("a") is None
    assert gate.try_pass("a", 10)


async def test_it_is_asked_when_its_turn_has_come_and_the_others_wait_for_the_answer() -> None:
    gate = Gate()
    answer = asyncio.Event()
    asked: asyncio.Queue[int] = asyncio.Queue()

    async def may_send() -> bool:
        ago_ms = gate.sent_ago_ms("a")
        assert ago_ms is not None
        if ago_ms < 1000 * DELAY_S - 1:
            return True  # not its turn yet
        asked.put_nowait(ago_ms)
        return await answer.wait()

    gate.try_pass("a", 0)
    first = asyncio.ensure_future(gate.wait("a", DELAY_S, may_send))
    second = asyncio.ensure_future(gate.wait("a", 0, yes))
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

    gate.try_pass("a", 0)
    started_s = monotonic_s()
    assert not await gate.wait("a", 3600, no)
    assert monotonic_s() - started_s < 5


async def test_one_that_goes_away_does_not_hold_up_the_others() -> None:
    gate = Gate()
    gate.try_pass("a", 0)
    first = asyncio.ensure_future(gate.wait("a", 3600, yes))
    second = asyncio.ensure_future(gate.wait("a", 0, yes))
    await asyncio.sleep(0)
    first.cancel()
    assert await second
    assert gate.try_pass("a", 0)
