"""The story of a URL, in sentences."""

from scrapy import Request, Spider
from scrapy.http import Response

from weft.boards.foundas import FoundAs
from weft.boards.refresh import UNCHANGED, RefreshState
from weft.cli.explain import tell
from weft.engine.boards.context import PageContext
from weft.engine.requests.pack import Packer
from weft.records import Ending, Explanation, Fetch, HostState, PageKind

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


def test_a_page_that_waits_is_due_again() -> None:
    told = Explanation(1, seen_at_ms=1, due_at_ms=61_000)
    assert last_line(told).startswith("  due again at 1970-01-01 ")
    assert last_line(told).endswith(", in 60 s")
    assert last_line(Explanation(1, due_at_ms=900)).startswith("  due again since ")


def test_a_page_of_a_board_tells_what_its_visits_brought() -> None:
    state = RefreshState(period_s=7_200, brought=(3, UNCHANGED, 0), digest=b"\xff" * 8, barren=2)
    lines = [*tell("http://a/", Explanation(1, payload=payload(state)), now_ms=1000)]
    assert lines[-2:] == [
        "  a page of the board news: nothing new in the last 2 visits, every 2 h",
        "  its last visits, the latest first: nothing new, unchanged, 3 new articles",
    ]


def test_a_page_that_fails_tells_so() -> None:
    state = RefreshState(period_s=60, brought=(-404,), failures=1)
    lines = [*tell("http://a/", Explanation(1, payload=payload(state)), now_ms=1000)]
    assert lines[-2] == "  a page of the board news: the last visit failed"
    assert lines[-1].endswith(": failed with 404")


def test_an_entry_of_a_board_says_so() -> None:
    fetched = Fetch(1, Ending.DONE, 200)
    new = Explanation(1, fetches=(fetched,), payload=payload(None, FoundAs.ENTRY))
    assert [*tell("http://a/", new, now_ms=1000)][1] == "  an entry of the board news"
    state = RefreshState(period_s=7_200, brought=(3,))
    visited = Explanation(1, payload=payload(state, FoundAs.ENTRY))
    assert [*tell("http://a/", visited, now_ms=1000)][1:] == [
        "  an entry of the board news",
        "  visited again: every 2 h",
        "  its last visits, the latest first: 3 new articles",
    ]


def test_a_page_that_was_never_visited_names_its_board() -> None:
    assert last_line(Explanation(1, payload=payload(None))) == "  a page of the board news"


def test_other_payloads_tell_nothing_of_visits() -> None:
    spider = AnySpider()
    other = Packer(spider).pack(Request("http://a/", cb_kwargs={"context": ("news", {1})}))
    for each in (b"", b"\xff\x00", b"\x81", other):
        assert last_line(Explanation(1, payload=each)).startswith("  never seen")


class AnySpider(Spider):
    name = "any"

    def parse(self, response: Response, **context: object) -> None:
        raise NotImplementedError


def payload(state: RefreshState | None, found_as: FoundAs = FoundAs.TOPIC) -> bytes:
    """As the engine packs the request of a page."""
    spider = AnySpider()
    context = PageContext("news", found_as, state=state)
    request = Request("http://a/", callback=spider.parse, cb_kwargs=context.packed())
    return Packer(spider).pack(request)
