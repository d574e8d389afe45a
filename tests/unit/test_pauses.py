from weft.engine.politeness.pauses import Pauses


def test_a_pause_lasts_as_long_as_the_longest_that_was_asked_for() -> None:
    now_s = 1000.0
    pauses = Pauses(lambda: now_s)
    pauses.begin("a", 5)
    pauses.begin("a", 1)
    assert (pauses.left_s("a"), pauses.left_s("b")) == (5, 0)
    now_s += 5
    assert pauses.left_s("a") == 0
    assert not pauses._until_s
