"""Work that takes too long is interrupted, and nothing is interrupted after it."""

import gc
import math
import sys
import threading
from collections.abc import Callable, Iterator

import pytest

from weft.boards.reading.deadline import REPEAT_S, within
from weft.clock import monotonic_s


def count(number: int) -> int:
    total = 0
    for step in range(number):
        total += step
    return total


def endless() -> int:
    while True:
        count(1000)


def work_for(seconds: float) -> None:
    end_s = monotonic_s() + seconds
    while monotonic_s() < end_s:
        count(100)


@pytest.fixture
def ignored(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What was raised where Python ignores it."""
    found: list[object] = []
    monkeypatch.setattr(
        sys, "unraisablehook", lambda lost: found.append((lost.exc_value, lost.object))
    )
    return found


@pytest.fixture
def on_collection() -> Iterator[list[Callable[[], None]]]:
    """What Python shall call while it collects garbage."""
    calls: list[Callable[[], None]] = []

    def callback(*_: object) -> None:
        for call in calls:
            call()

    # Callbacks of weak references are not noticed. None of other tests shall be called here.
    gc.collect()
    gc.freeze()
    gc.callbacks.append(callback)
    yield calls
    gc.callbacks.remove(callback)
    gc.unfreeze()


def test_work_that_is_done_in_time_gives_its_result() -> None:
    assert within(60, lambda: count(10)) == 45


def test_work_that_takes_too_long_is_interrupted() -> None:
    with pytest.raises(TimeoutError, match=r"longer than 0\.01 s"):
        within(0.01, endless)


def test_work_cannot_catch_the_interruption() -> None:
    def stubborn() -> int:
        while True:
            try:
                endless()
            except Exception:
                continue

    with pytest.raises(TimeoutError):
        within(0.01, stubborn)


def test_work_that_is_too_short_to_be_interrupted_is_late_all_the_same() -> None:
    for _ in range(300):
        with pytest.raises(TimeoutError, match=r"longer than 1e-05 s"):
            within(0.00001, lambda: sum(range(10_000)))


def test_no_interruption_comes_where_python_ignores_it(
    ignored: list[object],
    on_collection: list[Callable[[], None]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("weft.boards.reading.deadline.PATIENCE_S", 60)

    class Lingering:
        def __del__(self) -> None:
            work_for(REPEAT_S / 10)

    def work() -> None:
        Lingering()
        gc.collect()
        endless()

    on_collection.append(lambda: work_for(REPEAT_S / 10))
    for number in range(8):
        with pytest.raises(TimeoutError):
            within(number * REPEAT_S / 20, work)
    assert ignored == []


def test_what_python_ignores_does_not_go_on_for_ever(ignored: list[object]) -> None:
    class Lingering:
        def __del__(self) -> None:
            endless()

    def work() -> None:
        Lingering()
        endless()

    with pytest.raises(TimeoutError):
        within(0.01, work)
    assert len(ignored) == 1


def test_work_may_take_for_ever() -> None:
    assert within(math.inf, lambda: count(10)) == 45


def test_errors_of_the_work_come_through() -> None:
    with pytest.raises(ZeroDivisionError):
        within(60, lambda: 1 // 0)


def test_an_interruption_never_comes_after_the_work() -> None:
    for number in range(300):
        try:
            within(number / 100_000, lambda: count(2_000))
        except TimeoutError:
            count(100)
        assert count(1_000) == 499_500


def test_work_in_two_threads_is_interrupted_in_the_right_one() -> None:
    late: list[str] = []

    def work() -> None:
        try:
            within(0.02, endless)
        except TimeoutError:
            late.append("thread")

    thread = threading.Thread(target=work)
    thread.start()
    assert within(60, lambda: count(100_000)) == 4_999_950_000
    thread.join(30)
    assert late == ["thread"]
