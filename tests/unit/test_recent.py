import hypothesis.strategies as st
from hypothesis import given

from weft.engine.recent import RecentSet


def test_a_number_is_new_once() -> None:
    recent: RecentSet[int] = RecentSet(10)
    assert [recent.add(number) for number in (1, 2, 1, 2, 3)] == [True, True, False, False, True]


def test_the_oldest_half_is_forgotten() -> None:
    recent: RecentSet[int] = RecentSet(4)
    for number in range(5):
        assert recent.add(number)
    assert not any(recent.add(number) for number in (2, 3, 4))
    assert recent.add(0)


def test_all_can_be_forgotten() -> None:
    recent: RecentSet[int] = RecentSet(2)
    for number in range(4):
        recent.add(number)
    recent.clear()
    assert recent.add(2)
    assert recent.add(3)


@given(st.integers(2, 20), st.lists(st.integers(0, 40), max_size=200))
def test_half_the_capacity_is_always_remembered(capacity: int, numbers: list[int]) -> None:
    recent: RecentSet[int] = RecentSet(capacity)
    fresh: list[int] = []
    for number in numbers:
        is_new = recent.add(number)
        assert is_new or number in fresh[-capacity:]
        assert not (is_new and number in fresh[-(capacity // 2) :])
        if is_new:
            fresh.append(number)
