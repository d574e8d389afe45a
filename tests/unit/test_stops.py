import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from weft.engine.politeness import stops as process_stops
from weft.engine.politeness.stops import CUT_S, Stops, cuttables


@pytest.fixture(autouse=True)
def _same_signals_afterwards() -> Iterator[None]:
    before = signal.getsignal(signal.SIGCONT)
    yield
    signal.signal(signal.SIGCONT, before)


@contextmanager
def watching(*, is_overdue: bool) -> Iterator[Stops]:
    stops = Stops(lambda: is_overdue)
    stops.start()
    try:
        yield stops
    finally:
        stops.close()


def go_on() -> None:
    os.kill(os.getpid(), signal.SIGCONT)


async def test_nothing_is_sent_for_a_moment_after_a_stop_that_was_too_long() -> None:
    with watching(is_overdue=True) as stops:
        assert not stops.is_cutting
        assert not stops.has_cut
        go_on()
        assert stops.is_cutting
        await asyncio.sleep(CUT_S)
        assert not stops.is_cutting
        assert stops.has_cut  # what was cut off may fail a little later


async def test_a_short_stop_does_not_matter() -> None:
    with watching(is_overdue=False) as stops:
        go_on()
        assert not stops.is_cutting
        assert not stops.has_cut


async def test_all_crawls_of_a_process_hear_of_it() -> None:
    with watching(is_overdue=True) as first, watching(is_overdue=True) as second:
        go_on()
        assert first.is_cutting
        assert second.is_cutting


async def test_one_that_has_ended_hears_nothing() -> None:
    with watching(is_overdue=True) as stops:
        pass
    go_on()
    assert not stops.is_cutting


async def test_a_handler_of_the_user_stays() -> None:
    heard: list[int] = []
    signal.signal(signal.SIGCONT, lambda number, frame: heard.append(number))
    with watching(is_overdue=True) as stops:
        go_on()
        assert not stops.is_cutting
    assert heard == [signal.SIGCONT]


class Line:
    """A connection that counts how often it is cut off."""

    def __init__(self, *, has_unsent: bool) -> None:
        self.has_unsent = has_unsent
        self.cuts = 0

    def cut(self) -> None:
        self.cuts += 1


@pytest.fixture
def lines() -> Iterator[list[Line]]:
    """One that waits for its answer, and one that is not sent yet."""
    made = [Line(has_unsent=False), Line(has_unsent=True)]
    cuttables.update(made)
    yield made
    cuttables.difference_update(made)


async def test_after_a_stop_only_the_unsent_is_cut_off_as_soon_as_the_process_goes_on(
    lines: list[Line],
) -> None:
    with watching(is_overdue=True):
        go_on()
        assert [line.cuts for line in lines] == [0, 1]
        await asyncio.sleep(0)
        assert [line.cuts for line in lines] == [0, 2]  # also what has come to it meanwhile


async def test_when_leases_lapse_everything_is_cut_off(lines: list[Line]) -> None:
    with watching(is_overdue=False) as stops:
        stops.cut()
        assert [line.cuts for line in lines] == [1, 1]


async def test_what_began_before_a_cut_can_tell() -> None:
    with watching(is_overdue=False) as stops:
        before = process_stops.cut_count()
        stops.cut()
        assert process_stops.cut_count() > before
        assert process_stops.is_cutting()
        await asyncio.sleep(CUT_S)
        assert not process_stops.is_cutting()  # as soon as the gate is open again
        assert not stops.is_cutting
