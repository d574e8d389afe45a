"""The story of a URL, in sentences."""

from weft.cli.explain import tell
from weft.records import Explanation, HostState, PageKind

HOST = HostState("a", queued=2, claimed=0, next_at_ms=0, delay_ms=0, backoff=0, bad_until_ms=0)
PARKED = HostState("a", 2, 0, 0, 0, 0, 0, parked=5)


def last_line(told: Explanation) -> str:
    return [*tell("http://a/", told, now_ms=1000)][-1]


def test_a_queued_url_waits_in_the_queue_of_its_host() -> None:
    told = Explanation(1, seen_at_ms=1, queued_kind=PageKind.NAV, host=HOST)
    assert last_line(told) == "  waiting in the nav queue of a, one of 2"


def test_a_parked_url_waits_in_a_block() -> None:
    told = Explanation(1, seen_at_ms=1, is_parked=True, host=PARKED)
    assert last_line(told) == "  waiting in a compressed block of a, one of 7"


def test_a_parked_url_that_was_never_seen_was_asked_for_unfiltered() -> None:
    told = Explanation(1, is_parked=True, host=PARKED)
    assert [*tell("http://a/", told, now_ms=1000)][1].startswith(
        "  requested without the duplicate filter"
    )
