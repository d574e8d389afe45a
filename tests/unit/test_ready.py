from collections import Counter

import hypothesis.strategies as st
from hypothesis import given

from weft.engine.claims.ready import Ready
from weft.records import Claim, PackedRequest


def claim(token: int, host: str) -> Claim:
    return Claim(token, PackedRequest(token, f"http://{host}/{token}", host), "me", 0, 0)


def filled(ready: Ready, hosts: str) -> Ready:
    for token, host in enumerate(hosts):
        ready.put(claim(token, host))
    return ready


def tokens(ready: Ready) -> list[int]:
    return [claim.token for claim in ready]


def taken(ready: Ready) -> str:
    """The hosts of all that can be taken now, in order."""
    hosts = ""
    while (taken := ready.take()) is not None:
        hosts += taken.request.host
    return hosts


def test_nothing_is_ready_at_first() -> None:
    ready = Ready(lambda host: 1)
    assert ready.take() is None
    assert len(ready) == 0


def test_hosts_are_served_in_turn() -> None:
    assert taken(filled(Ready(lambda host: 9), "aaabbc")) == "abcaba"


def test_claims_of_a_host_are_served_in_order() -> None:
    ready = filled(Ready(lambda host: 9), "aaa")
    assert [c.token for c in iter(ready.take, None)] == [0, 1, 2]


def test_host_with_enough_under_way_does_not_hold_up_others() -> None:
    ready = filled(Ready({"a": 1, "b": 2}.__getitem__), "aaabbb")
    assert taken(ready) == "abb"
    assert len(ready) == 3


def test_the_next_is_ready_when_one_ends() -> None:
    ready = filled(Ready(lambda host: 1), "aab")
    assert taken(ready) == "ab"
    ready.ended("b")
    assert taken(ready) == ""
    ready.ended("a")
    assert taken(ready) == "a"


def test_claim_for_a_busy_host_waits() -> None:
    ready = filled(Ready(lambda host: 1), "a")
    assert taken(ready) == "a"
    ready.put(claim(7, "a"))
    assert taken(ready) == ""
    ready.ended("a")
    assert taken(ready) == "a"


def test_all_that_waits_can_be_given_back() -> None:
    ready = filled(Ready(lambda host: 1), "aab")
    ready.take()
    assert sorted(tokens(ready)) == [1, 2]
    assert sorted(c.token for c in ready.take_all()) == [1, 2]
    assert (len(ready), tokens(ready), ready.take()) == (0, [], None)
    ready.ended("a")
    assert ready.take() is None


def test_a_claim_that_is_lost_is_not_served() -> None:
    ready = filled(Ready(lambda host: 9), "abab")
    ready.discard({0, 1, 3, 7})
    assert (len(ready), tokens(ready), taken(ready)) == (1, [2], "a")


def test_a_host_that_has_lost_all_can_come_back() -> None:
    ready = filled(Ready(lambda host: 1), "aa")
    ready.discard({0, 1})
    assert not ready.can_send
    ready.put(claim(2, "a"))
    assert taken(ready) == "a"


def test_it_is_known_whether_something_can_be_sent() -> None:
    ready = Ready(lambda host: 1)
    assert not ready.can_send
    filled(ready, "aa")
    assert ready.can_send
    ready.take()
    assert not ready.can_send
    ready.ended("a")
    assert ready.can_send


LIMITS = {"a": 1, "b": 2, "c": 3}
operations = st.lists(
    st.one_of(st.sampled_from("abc"), st.sampled_from(["take", "end a", "end b", "lose"]))
)


@given(operations)
def test_never_more_than_allowed_is_under_way_and_nothing_is_stuck(operations: list[str]) -> None:
    ready = Ready(LIMITS.__getitem__)
    waiting: Counter[str] = Counter()
    under_way: Counter[str] = Counter()
    for token, operation in enumerate(operations):
        if operation in LIMITS:
            ready.put(claim(token, operation))
            waiting[operation] += 1
        elif operation == "take":
            can_send = any(waiting[h] and under_way[h] < LIMITS[h] for h in LIMITS)
            assert ready.can_send is can_send
            taken = ready.take()
            assert (taken is not None) is can_send
            if taken is not None:
                waiting[taken.request.host] -= 1
                under_way[taken.request.host] += 1
        elif operation == "lose":
            lost = tokens(ready)[::2]
            waiting.subtract(operations[token] for token in lost)
            ready.discard(lost)
        elif under_way[host := operation[-1]]:
            ready.ended(host)
            under_way[host] -= 1
        assert all(under_way[host] <= LIMITS[host] for host in LIMITS)
        assert len(ready) == len(tokens(ready)) == waiting.total()


def test_everything_that_waits_for_a_host_can_be_taken_away() -> None:
    ready = filled(Ready(lambda host: 1), "aaabb")
    assert taken(ready) == "ab"
    assert [claim.token for claim in ready.take_host("a")] == [1, 2]
    assert ready.take_host("a") == []
    ready.ended("a")
    ready.ended("b")
    assert taken(ready) == "b"
    assert len(ready) == 0
