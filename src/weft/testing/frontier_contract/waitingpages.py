"""Pages that wait: what is told of them, what forgets them, what they outlive."""

import pytest

from weft.records import AddStatus, PageKind
from weft.testing.frontier_contract.duepages import claim_all, fetch
from weft.testing.frontier_contract.making import HOUR_MS, MINUTE_MS, done, request, requests, urls
from weft.testing.frontier_contract.suite import FrontierSuite


class WaitingPagesContract(FrontierSuite):
    """Tests for pages between two visits."""

    async def test_what_waits_is_explained(self) -> None:
        async with self.opened() as frontier:
            [page] = requests(1, kind=PageKind.NAV, payload=b"state")
            await fetch(frontier, [page], MINUTE_MS)
            due_at_ms = self.clock.now_ms() + MINUTE_MS
            for host in (None, "a"):
                [told] = await frontier.explain([page.fingerprint], host)
                assert (told.url, told.kind, told.due_at_ms) == (page.url, page.kind, due_at_ms)
                assert (told.claim, told.queued_kind) == (None, None)
                assert told.payload == b"state"
                assert told.host is not None
                assert told.host.host == "a"
                assert [fetch.status for fetch in told.fetches] == [200]
            self.clock.advance(MINUTE_MS)
            await claim_all(frontier)
            [told] = await frontier.explain([page.fingerprint])
            assert told.due_at_ms == 0
            assert told.claim is not None

    async def test_the_last_ten_visits_of_a_page_are_remembered(self) -> None:
        async with self.opened() as frontier:
            [page] = requests(1)
            await frontier.add([page])
            for i in range(12):
                [claim] = await claim_all(frontier)
                await frontier.finish(done([claim], status=200 + i, due_in_ms=MINUTE_MS))
                self.clock.advance(MINUTE_MS)
            [told] = await frontier.explain([page.fingerprint])
            assert [fetch.status for fetch in told.fetches] == list(range(202, 212))

    async def test_what_was_found_on_a_page_that_waits_is_explained(self) -> None:
        async with self.opened() as frontier:
            [page] = requests(1)
            await fetch(frontier, [page], HOUR_MS)
            article = request("http://b/", found_on=page.fingerprint)
            await frontier.add([article])
            [told] = await frontier.explain([article.fingerprint])
            assert told.found_on_url == page.url

    async def test_clearing_a_kind_forgets_what_waits_as_that_kind(self) -> None:
        async with self.opened() as frontier:
            nav = requests(300, kind=PageKind.NAV)
            data = [request(f"http://a/article/{i}") for i in range(300)]
            await fetch(frontier, [*nav, *data], HOUR_MS)
            await frontier.clear(PageKind.NAV)
            assert (await frontier.stats()).waiting == 300
            assert await frontier.add([nav[0], data[0]]) == [AddStatus.QUEUED, AddStatus.KNOWN]
            [told] = await frontier.explain([nav[1].fingerprint])
            assert told.due_at_ms == 0
            self.clock.advance(HOUR_MS)
            again = await claim_all(frontier)
            assert sorted(urls(again)) == sorted([nav[0].url, *(page.url for page in data)])

    async def test_clearing_all_forgets_what_waits(self) -> None:
        async with self.opened() as frontier:
            for forget in (
                frontier.clear,
                lambda: frontier.begin(is_fresh=True, is_rerun=False),
                lambda: frontier.begin(is_fresh=False, is_rerun=True),
            ):
                pages = requests(500)
                await fetch(frontier, pages, MINUTE_MS)
                await forget()
                assert (await frontier.stats()).waiting == 0
                assert (await frontier.claim("me", 9)).next_in_ms is None
                self.clock.advance(MINUTE_MS)
                assert await claim_all(frontier) == []

    async def test_what_waits_outlives_a_process(self) -> None:
        if not self.SURVIVES_REOPEN:
            pytest.skip("this backend forgets when it is closed")

        async with self.opened() as frontier:
            pages = requests(500, payload=b"state")
            await fetch(frontier, pages, HOUR_MS)
            before = await frontier.stats()
        async with self.opened() as frontier:
            assert not await frontier.begin(is_fresh=False, is_rerun=False)
            assert await frontier.stats() == before
            assert before.waiting == 500
            answer = await frontier.claim("me", 9)
            assert answer.claims == []
            assert answer.next_in_ms is not None
            self.clock.advance(HOUR_MS)
            again = await claim_all(frontier)
            assert sorted(c.request.url for c in again) == sorted(p.url for p in pages)
            assert {c.request.payload for c in again} == {b"state"}
