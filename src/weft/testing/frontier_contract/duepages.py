"""Pages that are visited again when they are due."""

from collections.abc import Sequence

import msgspec
import pytest

from weft.config import HostLimits
from weft.frontier.base import FrontierBackend
from weft.records import AddStatus, Claim, Claims, Ending, PackedRequest, PageKind
from weft.testing.frontier_contract.making import (
    HOUR_MS,
    MINUTE_MS,
    done,
    request,
    requests,
    tokens,
    urls,
)
from weft.testing.frontier_contract.suite import FrontierSuite

WEEK_MS = 7 * 24 * HOUR_MS


async def claim_all(frontier: FrontierBackend) -> list[Claim]:
    """What can be claimed now, however many calls that takes."""
    claims: list[Claim] = []
    while some := await claim_some(frontier, 1_000):
        claims += some
    return claims


async def claim_some(frontier: FrontierBackend, limit: int) -> list[Claim]:
    """At least one, if any can be claimed now."""
    while True:
        answer = await frontier.claim("me", limit)
        if answer.claims or answer.next_in_ms != 0:
            return list(answer.claims)


async def fetch(
    frontier: FrontierBackend, pages: Sequence[PackedRequest], due_in_ms: int | None
) -> None:
    """Add pages, and finish them so that they wait."""
    await frontier.add(pages)
    claims = await claim_all(frontier)
    assert len(claims) == len(pages)
    assert all(await frontier.finish(done(claims, due_in_ms=due_in_ms)))


class DuePagesContract(FrontierSuite):
    """Tests for outcomes that say when their page is due."""

    @pytest.mark.parametrize("due_in_ms", [1, MINUTE_MS, HOUR_MS, WEEK_MS])
    async def test_a_page_comes_back_when_it_is_due_and_not_before(self, due_in_ms: int) -> None:
        async with self.opened() as frontier:
            [page] = pages = requests(1, kind=PageKind.NAV, payload=b"state", found_on=7)
            await fetch(frontier, pages, due_in_ms)
            answer = await frontier.claim("me", 9)
            assert answer.claims == []
            assert answer.next_in_ms is not None
            assert 0 < answer.next_in_ms <= due_in_ms
            self.clock.advance(due_in_ms - 1)
            assert await claim_all(frontier) == []
            self.clock.advance(1)
            [claim] = await claim_all(frontier)
            assert claim.request == page
            assert await frontier.finish(done([claim])) == [True]
            self.clock.advance(WEEK_MS)
            assert await frontier.claim("me", 9) == Claims([], None)

    async def test_a_page_that_is_due_at_once_comes_back_at_once(self) -> None:
        async with self.opened() as frontier:
            [page] = pages = requests(1)
            await fetch(frontier, pages, 0)
            stats = await frontier.stats()
            assert (stats.waiting, stats.queued, stats.added) == (0, 1, 1)
            assert [c.request for c in await claim_all(frontier)] == [page]

    async def test_a_page_that_is_due_at_once_is_named_where_its_links_are_explained(self) -> None:
        async with self.opened() as frontier:
            page = request("http://a/list")
            await fetch(frontier, [page], 0)
            link = request("http://b/article", found_on=page.fingerprint)
            await frontier.add([link])
            [told] = await frontier.explain([link.fingerprint])
            assert told.found_on_url == page.url

    async def test_a_claim_may_want_only_pages_that_have_been_due_for_long(self) -> None:
        async with self.opened() as frontier:
            early, late = requests(2)
            await frontier.add([early, late])
            claims = await claim_all(frontier)
            for claim, due_in_ms in zip(claims, (MINUTE_MS, HOUR_MS), strict=True):
                await frontier.finish(done([claim], due_in_ms=due_in_ms))
            self.clock.advance(HOUR_MS)
            # Both are due by now, the second only just.
            answer = await frontier.claim("me", 9, due_for_ms=MINUTE_MS)
            assert urls(answer.claims) == [early.url]
            assert await frontier.claim("me", 9, due_for_ms=MINUTE_MS) == Claims([], None)
            assert await frontier.next_due_in_ms() == 0
            assert urls(await claim_all(frontier)) == [late.url]

    async def test_what_waits_is_no_reason_to_continue(self) -> None:
        async with self.opened() as frontier:
            await fetch(frontier, requests(3), MINUTE_MS)
            stats = await frontier.stats()
            assert (stats.waiting, stats.pending, stats.queued, stats.claimed) == (3, 0, 0, 0)
            assert (stats.added, stats.done) == (3, 3)
            assert stats.is_all_done
            await frontier.mark_finished()
            assert await frontier.is_finished()
            self.clock.advance(MINUTE_MS)
            claims = await claim_all(frontier)
            stats = await frontier.stats()
            assert (stats.waiting, stats.pending, stats.added) == (0, 3, 3)
            await frontier.finish(done(claims, due_in_ms=None))
            assert (await frontier.stats()).pending == 0

    async def test_a_page_that_waits_is_known(self) -> None:
        async with self.opened() as frontier:
            pages = requests(2)
            await fetch(frontier, pages, MINUTE_MS)
            assert await frontier.add(pages) == [AddStatus.KNOWN] * 2
            self.clock.advance(MINUTE_MS)
            assert await frontier.add(pages) == [AddStatus.KNOWN] * 2
            claims = await claim_all(frontier)
            assert len(claims) == 2
            assert await frontier.add(pages) == [AddStatus.KNOWN] * 2
            await frontier.finish(done(claims, due_in_ms=MINUTE_MS))
            assert await frontier.add(pages) == [AddStatus.KNOWN] * 2

    @pytest.mark.parametrize("ending", [Ending.DONE, Ending.FAILED, Ending.DROPPED])
    async def test_a_page_waits_however_its_visit_ended(self, ending: Ending) -> None:
        async with self.opened() as frontier:
            [page] = requests(1)
            await frontier.add([page])
            claims = await claim_all(frontier)
            outcomes = done(claims, ending=ending, status=404, due_in_ms=2 * MINUTE_MS)
            assert await frontier.finish(outcomes) == [True]
            # It is not bad: found again after that time it would be queued besides.
            self.clock.advance(2 * MINUTE_MS)
            assert await frontier.add([page]) == [AddStatus.KNOWN]
            assert len(await claim_all(frontier)) == 1
            [told] = await frontier.explain([page.fingerprint])
            assert [fetch.ending for fetch in told.fetches] == [ending]
            assert told.bad_until_ms == 0

    async def test_a_page_that_another_request_replaces_does_not_wait(self) -> None:
        async with self.opened() as frontier:
            await frontier.add(requests(1))
            claims = await claim_all(frontier)
            await frontier.finish(done(claims, ending=Ending.REPLACED, due_in_ms=1))
            assert (await frontier.stats()).waiting == 0
            self.clock.advance(MINUTE_MS)
            assert await claim_all(frontier) == []

    async def test_a_page_of_a_host_that_does_not_exist_is_held(self) -> None:
        async with self.opened(bad_host_ms=HOUR_MS) as frontier:
            [page] = requests(1, "nowhere")
            await frontier.add([page])
            claims = await claim_all(frontier)
            outcomes = done(claims, ending=Ending.FAILED, is_host_bad=True, due_in_ms=MINUTE_MS)
            await frontier.finish(outcomes)
            stats = await frontier.stats()
            assert (stats.waiting, stats.held) == (0, 1)
            self.clock.advance(MINUTE_MS)
            assert await claim_all(frontier) == []
            self.clock.advance(HOUR_MS)
            assert urls(await claim_all(frontier)) == [page.url]

    async def test_the_next_visit_may_be_another_request_for_the_page(self) -> None:
        async with self.opened() as frontier:
            [page] = requests(1)
            await frontier.add([page, request("http://a/other", kind=PageKind.NAV)])
            [claim, *others] = await claim_all(frontier)
            assert claim.request == page
            again = msgspec.structs.replace(
                page, kind=PageKind.NAV, payload=b"ETag", priority=3, found_on=5
            )
            [outcome] = done([claim], due_in_ms=MINUTE_MS, again=again)
            await frontier.finish([outcome, *done(others)])
            self.clock.advance(MINUTE_MS)
            [claim] = await claim_all(frontier)
            assert claim.request == again
            # Of a visit that says nothing new the request stays as it was.
            await frontier.finish(done([claim], due_in_ms=MINUTE_MS))
            self.clock.advance(MINUTE_MS)
            assert [c.request for c in await claim_all(frontier)] == [again]

    async def test_a_page_comes_back_to_its_own_host(self) -> None:
        async with self.opened() as frontier:
            page = request("http://www.a.example/", host="a.example")
            await frontier.add([page])
            claims = await claim_all(frontier)
            again = msgspec.structs.replace(page, host="", fingerprint=1, payload=b"state")
            await frontier.finish(done(claims, due_in_ms=1, again=again))
            self.clock.advance(1)
            [claim] = await claim_all(frontier)
            assert claim.request == msgspec.structs.replace(page, payload=b"state")

    async def test_what_is_due_goes_to_the_end_of_the_queue(self) -> None:
        async with self.opened(limits=HostLimits(concurrency=1)) as frontier:
            first, second, third = requests(3)
            await frontier.add([first, second])
            claims = (await frontier.claim("me", 1)).claims
            await frontier.finish(done(claims, due_in_ms=1))
            self.clock.advance(1)
            order = []
            for _ in range(3):
                [claim] = (await frontier.claim("me", 1)).claims
                order.append(claim.request)
                await frontier.add([third])
                await frontier.finish(done([claim]))
            assert order == [second, first, third]

    async def test_what_is_due_first_comes_first(self) -> None:
        async with self.opened() as frontier:
            await frontier.add(requests(3))
            claims = await claim_all(frontier)
            for claim, due_in_ms in zip(claims, (30, 10, 20), strict=True):
                await frontier.finish(done([claim], due_in_ms=due_in_ms))
            self.clock.advance(MINUTE_MS)
            again = await claim_all(frontier)
            assert urls(again) == [f"http://a/{i}" for i in (1, 2, 0)]

    async def test_data_goes_before_nav_that_is_due(self) -> None:
        async with self.opened(limits=HostLimits(concurrency=1)) as frontier:
            await fetch(frontier, requests(1, kind=PageKind.NAV), 1)
            self.clock.advance(1)
            await frontier.add([request("http://a/article")])
            assert urls((await frontier.claim("me", 1)).claims) == ["http://a/article"]

    async def test_what_is_due_keeps_the_budget_of_its_host(self) -> None:
        limits = HostLimits(delay_ms=2_000, concurrency=8)
        async with self.opened(limits=limits) as frontier:
            await frontier.add(requests(2))
            for _ in range(2):
                claims = (await frontier.claim("me", 9)).claims
                assert len(claims) == 1
                await frontier.finish(done(claims, due_in_ms=MINUTE_MS, sent_ago_ms=0))
                self.clock.advance(2_000)
            self.clock.advance(MINUTE_MS)
            assert len((await frontier.claim("me", 9)).claims) == 1
            assert await frontier.claim("me", 9) == Claims([], 2_000)
            self.clock.advance(2_000)
            assert len((await frontier.claim("me", 9)).claims) == 1

    async def test_what_is_due_does_not_wake_a_host_that_backs_off(self) -> None:
        async with self.opened(backoff_ms=10_000) as frontier:
            await frontier.add(requests(1))
            claims = await claim_all(frontier)
            await frontier.finish(done(claims, status=503, due_in_ms=1_000))
            self.clock.advance(1_000)
            answer = await frontier.claim("me", 9)
            assert (answer.claims, answer.next_in_ms) == ([], 9_000)
            self.clock.advance(9_000)
            assert len((await frontier.claim("me", 9)).claims) == 1

    async def test_the_next_claim_is_worth_when_the_first_page_is_due(self) -> None:
        async with self.opened() as frontier:
            await frontier.add(requests(3))
            claims = await claim_all(frontier)
            for claim, due_in_ms in zip(claims, (5_000, 3_000, 4_000), strict=True):
                await frontier.finish(done([claim], due_in_ms=due_in_ms))
            for wait_ms in (3_000, 1_000, 1_000):
                answer = await frontier.claim("me", 9)
                assert (answer.claims, answer.next_in_ms) == ([], wait_ms)
                self.clock.advance(wait_ms)
                assert len((await frontier.claim("me", 9)).claims) == 1
            assert (await frontier.claim("me", 9)).next_in_ms is None

    async def test_the_first_page_that_is_due_is_told_until_it_is_claimed(self) -> None:
        async with self.opened() as frontier:
            assert await frontier.next_due_in_ms() is None
            await frontier.add(requests(300))
            claims = await claim_all(frontier)
            outcomes = [
                outcome
                for number, claim in enumerate(claims)
                for outcome in done([claim], due_in_ms=HOUR_MS + number)
            ]
            assert all(await frontier.finish(outcomes))
            assert await frontier.next_due_in_ms() == HOUR_MS
            self.clock.advance(HOUR_MS - 1)
            assert await frontier.next_due_in_ms() == 1
            self.clock.advance(2)
            assert await frontier.next_due_in_ms() == -1
            assert len(await claim_all(frontier)) == 2
            assert await frontier.next_due_in_ms() == 1

    @pytest.mark.parametrize("count", [2, 700, 3_000])
    async def test_many_pages_that_are_due_at_once_all_come_back_once(self, count: int) -> None:
        async with self.opened() as frontier:
            hosts = ("a", "b", "c")
            pages = [page for host in hosts for page in requests(count // 2, host, payload=b"x")]
            await fetch(frontier, pages, HOUR_MS)
            assert (await frontier.stats()).waiting == len(pages)
            assert await claim_all(frontier) == []
            self.clock.advance(HOUR_MS - 1)
            assert await claim_all(frontier) == []
            self.clock.advance(1)
            again = await claim_all(frontier)
            assert sorted(c.request.url for c in again) == sorted(p.url for p in pages)
            stats = await frontier.stats()
            assert (stats.waiting, stats.claimed) == (0, len(pages))

    @pytest.mark.parametrize("limit", [1, 2, 3, 257])
    async def test_pages_come_back_again_and_again_whatever_the_size_of_batches(
        self, limit: int
    ) -> None:
        async with self.opened() as frontier:
            pages = requests(41, payload=b"x")
            await fetch(frontier, pages, HOUR_MS)
            for _ in range(3):
                self.clock.advance(HOUR_MS)
                come = []
                while claims := await claim_some(frontier, limit):
                    come += urls(claims)
                    assert all(await frontier.finish(done(claims, due_in_ms=HOUR_MS)))
                assert sorted(come) == sorted(page.url for page in pages)
                assert (await frontier.stats()).waiting == len(pages)

    async def test_pages_that_are_due_one_after_the_other_come_back_in_time(self) -> None:
        async with self.opened() as frontier:
            count, step_ms = 600, 7_000
            await frontier.add(requests(count))
            claims = await claim_all(frontier)
            # Later ones are told first, in several calls.
            outcomes = [done([c], due_in_ms=(i + 1) * step_ms)[0] for i, c in enumerate(claims)]
            for first in range(0, count, 50):
                assert all(await frontier.finish(outcomes[::-1][first : first + 50]))
            come = []
            for _ in range(count):
                self.clock.advance(step_ms - 1)
                assert await claim_all(frontier) == []
                self.clock.advance(1)
                come += urls(await claim_all(frontier))
            assert come == [f"http://a/{i}" for i in range(count)]
            assert (await frontier.stats()).waiting == 0

    async def test_a_page_that_is_due_is_claimed_once(self) -> None:
        async with self.opened(claim_ms=2 * MINUTE_MS) as frontier:
            await fetch(frontier, requests(1, payload=b"first"), MINUTE_MS)
            self.clock.advance(MINUTE_MS)
            [late] = await claim_all(frontier)
            self.clock.advance(2 * MINUTE_MS)
            assert await frontier.reclaim() == 1
            [claim] = (await frontier.claim("you", 9)).claims
            assert claim.request == late.request
            # Whoever comes too late does not say when the page is due.
            again = msgspec.structs.replace(late.request, payload=b"second")
            assert await frontier.finish(done([late], due_in_ms=1, again=again)) == [False]
            assert (await frontier.stats()).waiting == 0
            both = [*done([claim], due_in_ms=MINUTE_MS), *done([claim], due_in_ms=1)]
            assert await frontier.finish(both) == [True, False]
            assert (await frontier.stats()).waiting == 1
            self.clock.advance(MINUTE_MS)
            assert [c.request for c in await claim_all(frontier)] == [late.request]

    async def test_what_is_released_after_it_was_due_does_not_wait_again(self) -> None:
        async with self.opened() as frontier:
            await fetch(frontier, requests(2), 1)
            self.clock.advance(1)
            claims = await claim_all(frontier)
            await frontier.release(tokens(claims))
            assert (await frontier.stats()).waiting == 0
            assert urls(await claim_all(frontier)) == urls(claims)
