"""Work that takes too long is interrupted, and nothing is interrupted after it."""

import math
import sys
import threading

import pytest

from weft.boards.reading.deadline import within


def count(number: int) -> int:
    total = 0
    for step in range(number):
        total += step
    return total


def endless() -> int:
    while True:
        count(1000)


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


def test_an_interruption_that_python_ignores_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    ignored: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: ignored.append(lost.exc_type))

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
