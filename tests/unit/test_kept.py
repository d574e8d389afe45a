"""Kept requests and the claims that they are part of."""

from collections import Counter

import pytest
from scrapy import Request

from weft.engine.claims.outcome import Fate
from weft.engine.claims.ready import Ready
from weft.engine.requests.kept import KEPT, KeptRequests, KeptStarts
from weft.errors import PackError, UnpackableError
from weft.records import AddStatus, Claim, PackedRequest

WHY = UnpackableError("<GET http://a/>", "callback", "is a lambda")


class Keeping:
    """Kept requests of a worker that may send everything, unless it is told otherwise."""

    def __init__(self, concurrency: int = 10) -> None:
        self.links: list[PackedRequest] = []
        self.ended: list[Fate] = []
        self.not_ours: set[int] = set()
        self.counts: Counter[str] = Counter()
        self.kept = KeptRequests(
            Ready(lambda host: concurrency),
            put_link=self.links.append,
            may_send=lambda claim: claim is None or claim.token not in self.not_ours,
            end_claim=self.ended.append,
            counts=self.counts,
        )

    def keep(self, number: int, parent: Fate | None, **fields: object) -> bool:
        request = Request(f"http://a/{number}")
        packed = PackedRequest(number, request.url, "a", **fields)  # type: ignore[arg-type]
        return self.kept.keep(request, packed, parent, WHY)

    def answer(self, status: AddStatus = AddStatus.DROPPED) -> None:
        """What the frontier says about all that were put in."""
        self.kept.note_added(self.links, [status] * len(self.links))
        self.links.clear()

    def take(self) -> Fate:
        taken = self.kept.take()
        assert taken is not None
        return taken[1]


def page(token: int) -> Fate:
    return Fate(Claim(token, PackedRequest(token, f"http://p/{token}", "p"), "me", 0, 0))


def numbers(fates: list[Fate]) -> list[int]:
    return [fate.claim.token for fate in fates]


def test_a_claim_ends_with_the_last_of_its_kept_requests() -> None:
    keeping = Keeping()
    root = page(1)
    assert keeping.keep(10, root)
    assert keeping.keep(11, root)
    keeping.answer()
    first, second = keeping.take(), keeping.take()
    keeping.kept.let_go(root)
    keeping.kept.let_go(first)
    # What it brings is part of the same claim.
    assert keeping.keep(12, second)
    keeping.kept.let_go(second)
    assert keeping.ended == []
    keeping.answer()
    third = keeping.take()
    keeping.kept.let_go(third)
    assert numbers(keeping.ended) == [1]
    assert keeping.kept.left == 0


def test_nothing_is_sent_before_the_frontier_has_answered() -> None:
    keeping = Keeping()
    keeping.keep(10, page(1))
    assert not keeping.kept.can_take
    assert "kept in memory with its page: callback is a lambda" in keeping.links[0].dropped_by
    keeping.answer()
    assert keeping.kept.can_take


def test_what_the_frontier_knows_is_filtered() -> None:
    keeping = Keeping()
    root = page(1)
    keeping.keep(10, root)
    keeping.kept.let_go(root)
    keeping.answer(AddStatus.KNOWN)
    assert keeping.kept.take() is None
    assert numbers(keeping.ended) == [1]
    assert keeping.counts["dupefilter/filtered"] == 1


def test_what_is_unfiltered_is_sent_even_if_the_frontier_knows_its_url() -> None:
    keeping = Keeping()
    keeping.keep(10, page(1), url_fingerprint=99)
    assert keeping.links[0].fingerprint == 99
    keeping.answer(AddStatus.KNOWN)
    keeping.take()


def test_each_is_kept_once() -> None:
    keeping = Keeping()
    first, second = page(1), page(2)
    assert keeping.keep(10, first)
    assert not keeping.keep(10, first)
    assert not keeping.keep(10, second)
    assert keeping.keep(10, first, is_forced=True)  # a retry
    assert (first.kept, second.kept) == (2, 0)


@pytest.mark.parametrize("is_repeated", [False, True])
def test_it_is_kept_again_only_if_its_page_is_worked_on_again(*, is_repeated: bool) -> None:
    keeping = Keeping()
    root = page(1)
    keeping.keep(10, root)
    keeping.answer()
    fate = keeping.take()
    keeping.kept.let_go(fate)
    keeping.kept.note_finished([1, 2], {1} if is_repeated else set())
    assert keeping.keep(10, page(1)) is is_repeated


def test_a_claim_that_went_to_another_worker_is_given_up_with_all_its_requests() -> None:
    keeping = Keeping()
    lost, own = page(1), page(2)
    for number in (10, 11):
        keeping.keep(number, lost)
    keeping.keep(20, own)
    keeping.answer()
    keeping.kept.let_go(lost)
    keeping.not_ours = {1}
    fate = keeping.take()
    assert fate.part_of is own
    assert numbers(keeping.ended) == [1]
    assert lost.is_abandoned
    assert keeping.kept.left == 1
    # Whoever works on the page next makes them again.
    assert not keeping.keep(12, lost)
    assert keeping.keep(10, page(1))


def test_a_request_that_was_cut_off_gives_up_its_claim_when_the_others_are_done() -> None:
    keeping = Keeping()
    root = page(1)
    for number in (10, 11, 12):
        keeping.keep(number, root)
    keeping.answer()
    cut, other = keeping.take(), keeping.take()
    keeping.kept.let_go(root)
    cut.is_abandoned = True
    keeping.kept.let_go(cut)
    assert keeping.kept.take() is None  # the third was dropped
    assert keeping.ended == []
    keeping.kept.let_go(other)
    assert numbers(keeping.ended) == [1]


def test_a_crawl_that_is_closed_gives_up_the_claims_of_all_that_wait() -> None:
    keeping = Keeping()
    waiting, under_way = page(1), page(2)
    keeping.keep(20, under_way)
    keeping.answer()
    keeping.take()
    keeping.keep(10, waiting)  # the frontier has not answered yet
    keeping.keep(30, None)
    for root in (waiting, under_way):
        keeping.kept.let_go(root)
    keeping.kept.drop_all()
    assert numbers(keeping.ended) == [1]
    assert not under_way.is_abandoned
    keeping.answer()
    assert keeping.kept.take() is None
    assert keeping.kept.left == 1


def test_a_retry_says_what_became_of_its_page() -> None:
    keeping = Keeping()
    root = page(1)
    keeping.keep(1, root, is_forced=True)
    retry = keeping.take()
    retry.status, retry.is_answered, retry.is_handled, retry.items = 200, True, True, 3
    keeping.kept.let_go(root)
    keeping.kept.let_go(retry)
    [ended] = keeping.ended
    assert (ended.outcome().status, ended.outcome().items, ended.is_page) == (200, 3, True)


def test_a_host_has_no_more_under_way_than_its_concurrency() -> None:
    keeping = Keeping(concurrency=1)
    root = page(1)
    for number in (10, 11):
        keeping.keep(number, root)
    keeping.answer()
    first = keeping.take()
    assert keeping.kept.take() is None
    keeping.kept.let_go(first)
    keeping.take()


def test_start_requests_are_found_by_their_identity() -> None:
    starts = KeptStarts()
    request = Request("http://a/", meta={"x": object()})
    packed = starts.put(request, PackedRequest(5, request.url, "a"))
    assert packed.payload == KEPT
    assert starts.find(packed) is request
    again = starts.find(packed)
    assert again is not request
    assert again is not None
    assert again.meta == request.meta
    other = PackedRequest(6, "http://b/", "b", payload=KEPT)
    assert starts.find(other) is None
    starts.are_complete = True
    with pytest.raises(PackError, match="has not made the request again"):
        starts.find(other)
