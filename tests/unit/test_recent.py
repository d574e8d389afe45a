import random

import hypothesis.strategies as st
from hypothesis import given

from weft.engine.requests.recent import FIRST_SLOTS, Interval, RecentNumbers
from weft.testing import FakeClock

NUMBERS = st.integers(-(2**63), 2**63 - 1).filter(bool)


def test_a_number_is_new_once() -> None:
    recent = RecentNumbers(16)
    assert [recent.add(number) for number in (1, 2, 1, 2, 3)] == [True, True, False, False, True]


def test_of_those_that_share_their_slots_the_last_two_are_remembered() -> None:
    recent = RecentNumbers(4)
    assert [recent.add(number) for number in (1, 5, 9)] == [True, True, True]
    assert 1 not in recent
    assert [recent.add(number) for number in (5, 9)] == [False, False]
    assert recent.add(1)


def test_neighbours_take_each_others_place() -> None:
    recent = RecentNumbers(4)
    assert [recent.add(number) for number in (2, 3, 7)] == [True, True, True]
    assert 2 not in recent
    assert [recent.add(number) for number in (7, 3)] == [False, False]


def test_two_slots_forget_less_than_half_of_what_one_would() -> None:
    recent = RecentNumbers(2**10)
    draw = random.Random(1)
    numbers = [draw.getrandbits(63) for _ in range(200)]
    single: dict[int, int] = {}
    taken = taken_by_single = 0
    for number in draw.choices(numbers, k=2_000):
        taken += recent.add(number)
        taken_by_single += single.get(number % 2**10) != number
        single[number % 2**10] = number
    assert len(numbers) <= taken
    assert taken - len(numbers) < (taken_by_single - len(numbers)) / 2


def test_all_slots_are_made_when_two_numbers_meet() -> None:
    recent = RecentNumbers(4 * FIRST_SLOTS)
    numbers = [1, 2, 3 + FIRST_SLOTS, 1 + FIRST_SLOTS, 1 + 2 * FIRST_SLOTS, 1 + 3 * FIRST_SLOTS]
    assert all(recent.add(number) for number in numbers)
    assert all(number in recent for number in numbers)
    assert not any(recent.add(number) for number in numbers)
    recent.clear()
    assert not any(number in recent for number in numbers)


def test_all_can_be_forgotten() -> None:
    recent = RecentNumbers(4)
    for number in range(1, 5):
        recent.add(number)
    recent.clear()
    assert all(recent.add(number) for number in range(1, 5))


@given(st.lists(NUMBERS | st.integers(1, 40), max_size=200))
def test_only_what_was_met_is_known_and_the_last_always_is(numbers: list[int]) -> None:
    recent = RecentNumbers(8)
    met: set[int] = set()
    for number in numbers:
        assert number in met or number not in recent
        is_new = recent.add(number)
        assert is_new or number in met
        assert number in recent
        met.add(number)


def test_a_period_is_over_once() -> None:
    clock = FakeClock()
    period = Interval(1000, clock)
    over = []
    for ms in (999, 1, 0, 999, 1, 5000, 999):
        clock.advance(ms)
        over.append(period.is_over())
    assert over == [False, True, False, False, True, True, False]


def test_a_clock_that_is_put_back_ends_a_period() -> None:
    clock = FakeClock()
    period = Interval(1000, clock)
    clock.advance(-1)
    assert [period.is_over(), period.is_over()] == [True, False]
