"""What people ask: explaining and clearing."""

from weft.records import AddStatus, Ending, PageKind
from weft.testing.frontier_contract.making import done, request, requests
from weft.testing.frontier_contract.suite import FrontierSuite


class PeopleContract(FrontierSuite):
    """Tests for `explain`, `hosts` and `clear`."""

    async def test_explain_tells_the_whole_story(self) -> None:
        async with self.opened() as frontier:
            home = request("http://a/")
            page = request("http://a/page", found_on=home.fingerprint, kind=PageKind.NAV)
            [nothing] = await frontier.explain([page.fingerprint])
            assert nothing.seen_at_ms is None

            await frontier.add([home])
            claims = (await frontier.claim("me", 1)).claims
            await frontier.add([page])
            seen_at_ms = self.clock.now_ms()
            await frontier.finish(done(claims))
            [queued] = await frontier.explain([page.fingerprint])
            assert (queued.url, queued.queued_kind) == (page.url, PageKind.NAV)
            assert (queued.seen_at_ms, queued.found_on_url) == (seen_at_ms, "http://a/")
            assert queued.host is not None
            assert queued.host.queued == 1

            [claim] = (await frontier.claim("worker-7", 1)).claims
            [claimed] = await frontier.explain([page.fingerprint])
            assert claimed.claim == claim
            assert claimed.queued_kind is None

            self.clock.advance(5)
            note = "Forbidden by robots.txt"
            await frontier.finish(done([claim], ending=Ending.DROPPED, status=0, note=note))
            [ended] = await frontier.explain([page.fingerprint])
            assert ended.claim is None
            assert ended.url == page.url
            [fetch] = ended.fetches
            assert (fetch.at_ms, fetch.note) == (seen_at_ms + 5, note)
            assert fetch.ending is Ending.DROPPED

    async def test_an_unfiltered_request_is_explained_under_its_url_too(self) -> None:
        async with self.opened() as frontier:
            plain = request("http://a/")
            start = request("http://a/", fingerprint=7, url_fingerprint=plain.fingerprint)
            await frontier.add([start])
            [queued] = await frontier.explain([plain.fingerprint])
            assert (queued.seen_at_ms, queued.queued_kind) == (None, PageKind.DATA)
            claims = (await frontier.claim("me", 1)).claims
            assert (await frontier.explain([plain.fingerprint]))[0].claim == claims[0]
            await frontier.finish(done(claims))
            told = await frontier.explain([7, plain.fingerprint])
            assert [[fetch.status for fetch in t.fetches] for t in told] == [[200], [200]]
            # It does not make its URL known; and its history stays.
            assert await frontier.add([plain]) == [AddStatus.QUEUED]
            claims = (await frontier.claim("me", 1)).claims
            await frontier.finish(done(claims, status=404))
            [told_plain] = await frontier.explain([plain.fingerprint])
            assert [fetch.status for fetch in told_plain.fetches] == [200, 404]

    async def test_explain_remembers_the_last_ten_fetches(self) -> None:
        async with self.opened() as frontier:
            again = request("http://a/", is_forced=True)
            for i in range(12):
                await frontier.add([again])
                claims = (await frontier.claim("me", 1)).claims
                await frontier.finish(done(claims, status=200 + i))
            [told] = await frontier.explain([again.fingerprint])
            assert [fetch.status for fetch in told.fetches] == list(range(202, 212))

    async def test_busy_hosts_are_listed(self) -> None:
        async with self.opened() as frontier:
            await frontier.add(requests(2, "a") + requests(5, "b") + requests(1, "c"))
            states = await frontier.hosts(2)
            assert [(s.host, s.queued) for s in states] == [("b", 5), ("a", 2)]

    async def test_who_reports_what_is_seen_counts_every_url(self) -> None:
        async with self.opened() as frontier:
            await frontier.add(requests(3) + requests(2, "b", kind=PageKind.NAV))
            report = await frontier.seen_report()
            assert report is None or report.urls == 5

    async def test_clearing_nav_leaves_data_alone(self) -> None:
        async with self.opened() as frontier:
            nav = requests(3, "a", kind=PageKind.NAV) + requests(2, "b", kind=PageKind.NAV)
            data = [request(f"http://a/article/{i}") for i in range(2)]
            fetched = request("http://c/list", kind=PageKind.NAV)
            await frontier.add([fetched])
            await frontier.finish(done((await frontier.claim("me", 1)).claims))
            await frontier.add(nav + data)
            await frontier.clear(PageKind.NAV)
            stats = await frontier.stats()
            assert (stats.queued_nav, stats.queued_data) == (0, 2)
            # Navigation starts over, including fetched pages; articles stay known.
            assert await frontier.add([*nav, fetched]) == [AddStatus.QUEUED] * 6
            assert await frontier.add(data) == [AddStatus.KNOWN] * 2
            assert len((await frontier.claim("me", 99)).claims) == 8

    async def test_clearing_a_kind_leaves_its_claims_alone(self) -> None:
        async with self.opened() as frontier:
            nav = requests(2, kind=PageKind.NAV)
            await frontier.add(nav)
            claims = (await frontier.claim("me", 1)).claims
            await frontier.clear(PageKind.NAV)
            assert await frontier.add(nav) == [AddStatus.KNOWN, AddStatus.QUEUED]
            assert await frontier.finish(done(claims)) == [True]

    async def test_clearing_all_forgets_everything(self) -> None:
        async with self.opened() as frontier:
            added = [*requests(3), request("http://b/", dropped_by="rule")]
            await frontier.add(added)
            claims = (await frontier.claim("me", 1)).claims
            await frontier.clear()
            stats = await frontier.stats()
            assert (stats.pending, stats.added, stats.hosts) == (0, 0, 0)
            assert await frontier.finish(done(claims)) == [False]
            told = await frontier.explain([r.fingerprint for r in added])
            assert [(t.seen_at_ms, t.dropped_by) for t in told] == [(None, "")] * 4
            assert await frontier.add(added[:3]) == [AddStatus.QUEUED] * 3
