import hypothesis.strategies as st
from hypothesis import given

from weft.engine.recent import RecentNumbers

NUMBERS = st.integers(-(2**63), 2**63 - 1).filter(bool)


def test_a_number_is_new_once() -> None:
    recent = RecentNumbers(16)
    assert [recent.add(number) for number in (1, 2, 1, 2, 3)] == [True, True, False, False, True]


def test_of_those_that_share_a_slot_the_last_is_remembered() -> None:
    recent = RecentNumbers(4)
    assert recent.add(1)
    assert recent.add(5)
    assert 1 not in recent
    assert 5 in recent
    assert recent.add(1)


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
