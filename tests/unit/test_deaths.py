"""Workers that die are replaced, unless none of them gets anywhere."""

from weft.node.deaths import LONGEST_PAUSE_S, MAX_DEATHS, STEADY_S, Deaths


def test_a_death_after_pages_is_not_a_fruitless_one() -> None:
    deaths = Deaths()
    deaths.note(lived_s=1, pages=3)
    for _ in range(MAX_DEATHS - 1):
        deaths.note(lived_s=1, pages=0)
    assert deaths.fruitless == MAX_DEATHS - 1
    assert not deaths.is_hopeless
    deaths.note(lived_s=1, pages=0)
    assert deaths.is_hopeless


def test_pages_make_the_count_begin_anew() -> None:
    deaths = Deaths()
    for pages in (0, 0, 0, 0, 1, 0, 0, 0, 0):
        deaths.note(lived_s=1, pages=pages)
        assert not deaths.is_hopeless


def test_pauses_grow_until_a_worker_lives_long() -> None:
    deaths = Deaths()
    pauses_s = []
    for _ in range(10):
        deaths.note(lived_s=1, pages=1)
        pauses_s.append(deaths.pause_s)
    assert pauses_s[:4] == [0.25, 0.5, 1, 2]
    assert pauses_s[-1] == LONGEST_PAUSE_S
    deaths.note(lived_s=STEADY_S + 1, pages=1)
    assert deaths.pause_s == 0.25


def test_pauses_do_not_overflow() -> None:
    deaths = Deaths()
    for _ in range(5000):
        deaths.note(lived_s=1, pages=1)
    assert deaths.pause_s == LONGEST_PAUSE_S
