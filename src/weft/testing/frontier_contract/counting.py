"""Counters, hours, and how a crawl begins and ends."""

from functools import partial

from weft.config import HostLimits
from weft.records import AddStatus, Claims, Ending, Hour, Outcome, PageKind
from weft.testing.frontier_contract.making import HOUR_MS, MINUTE_MS, done, request, requests
from weft.testing.frontier_contract.suite import FrontierSuite


class CountingContract(FrontierSuite):
    """Tests for `stats`, `hours`, `begin` and `mark_finished`."""

    async def test_a_crawl_is_finished_when_nothing_is_pending(self) -> None:
        async with self.opened() as frontier:
            assert (await frontier.stats()).pending == 0
            await frontier.add(requests(2))
            assert (await frontier.stats()).pending == 2
            claims = (await frontier.claim("me", 2)).claims
            assert (await frontier.stats()).pending == 2
            await frontier.add([request("http://a/more")])
            await frontier.finish(done(claims))
            assert (await frontier.stats()).pending == 1
            claims = (await frontier.claim("me", 2)).claims
            await frontier.finish(done(claims))
            stats = await frontier.stats()
            assert (stats.pending, stats.added, stats.done) == (0, 3, 3)

    async def test_endings_are_counted_apart(self) -> None:
        async with self.opened() as frontier:
            await frontier.add(requests(4))
            claims = (await frontier.claim("me", 4)).claims
            endings = [
                Outcome(token=claim.token, ending=ending)
                for claim, ending in zip(claims, Ending, strict=True)
            ]
            await frontier.finish(endings)
            stats = await frontier.stats()
            assert (stats.done, stats.replaced, stats.failed, stats.refused) == (1, 1, 1, 1)

    async def test_what_was_finished_is_counted_by_the_hour(self) -> None:
        async with self.opened() as frontier:
            assert await frontier.hours() == []
            # Several hosts, because a backend may partition them.
            await frontier.add([request(f"http://{host}/") for host in "abcdefgh"])
            claims = (await frontier.claim("me", 8)).claims
            now_ms = self.clock.now_ms()
            next_ms = now_ms // HOUR_MS * HOUR_MS + HOUR_MS
            await frontier.finish(done(claims[:2], items=3))
            self.clock.advance(next_ms - 1 - now_ms)
            await frontier.finish(done(claims[2:3], ending=Ending.FAILED, items=1))
            self.clock.advance(1)
            await frontier.finish(done(claims[3:5]) + done(claims[5:6], ending=Ending.FAILED))
            # Claims that are neither done nor failed make no hour of their own.
            self.clock.advance(HOUR_MS)
            await frontier.finish(done(claims[6:7], ending=Ending.REPLACED))
            await frontier.finish(done(claims[7:], ending=Ending.DROPPED))
            assert await frontier.hours() == [
                Hour(next_ms - HOUR_MS, 2, 7, 1, now_ms, next_ms - 1),
                Hour(next_ms, 2, 0, 1, next_ms, next_ms),
            ]

    async def test_a_page_that_two_workers_had_is_counted_once(self) -> None:
        async with self.opened() as frontier:
            await frontier.add(requests(3))
            late = (await frontier.claim("me", 3)).claims
            await frontier.finish(done(late[:1], items=1))
            self.clock.advance(2 * MINUTE_MS)
            await frontier.reclaim()
            again = (await frontier.claim("you", 3)).claims
            assert await frontier.finish(done(late, items=1)) == [False] * 3
            assert (
                await frontier.finish(done([*again, *again], items=1)) == [True] * 2 + [False] * 2
            )
            hours = await frontier.hours()
            assert sum(hour.pages for hour in hours) == 3
            assert sum(hour.items for hour in hours) == 3

    async def test_hours_are_forgotten_with_everything(self) -> None:
        async with self.opened() as frontier:
            for forget in (
                frontier.clear,
                partial(frontier.begin, is_fresh=True, is_rerun=False),
            ):
                await frontier.add(requests(2))
                await frontier.finish(done((await frontier.claim("me", 2)).claims))
                await frontier.clear(PageKind.DATA)
                assert [hour.pages for hour in await frontier.hours()] == [2]
                await forget()
                assert await frontier.hours() == []

    async def test_a_crawl_that_ended_by_itself_is_remembered(self) -> None:
        async with self.opened() as frontier:
            await frontier.mark_finished()
            assert not await frontier.is_finished()  # it never began
            assert not await frontier.begin(is_fresh=False, is_rerun=True)
            await frontier.add(requests(2))
            await frontier.finish(done((await frontier.claim("me", 2)).claims))
            assert not await frontier.is_finished()
            await frontier.mark_finished()
            assert await frontier.is_finished()
            await frontier.add([request("http://a/late")])
            assert not await frontier.is_finished()

    async def test_beginning_starts_over_where_that_is_wanted(self) -> None:
        async with self.opened() as frontier:
            await frontier.begin(is_fresh=False, is_rerun=True)
            await frontier.add(requests(2))
            # Something is left: it continues, whatever was remembered.
            await frontier.mark_finished()
            assert not await frontier.begin(is_fresh=False, is_rerun=True)
            assert await frontier.add(requests(2)) == [AddStatus.KNOWN] * 2
            claims = (await frontier.claim("me", 2)).claims
            assert not await frontier.begin(is_fresh=False, is_rerun=True)
            await frontier.finish(done(claims))
            assert not await frontier.begin(is_fresh=False, is_rerun=False)
            assert await frontier.add(requests(2)) == [AddStatus.KNOWN] * 2
            # Nothing is left: it starts over, even if nobody said that it had ended.
            assert await frontier.begin(is_fresh=False, is_rerun=True)
            assert await frontier.add(requests(2)) == [AddStatus.QUEUED] * 2
            assert await frontier.begin(is_fresh=True, is_rerun=False)
            assert await frontier.add(requests(2)) == [AddStatus.QUEUED] * 2

    async def test_what_is_held_does_not_keep_a_crawl_from_starting_over(self) -> None:
        async with self.opened() as frontier:
            await frontier.add([request("http://gone/")])
            [claim] = (await frontier.claim("me", 1)).claims
            outcome = Outcome(claim.token, Ending.FAILED, is_host_bad=True)
            assert await frontier.finish([outcome]) == [True]
            assert (await frontier.stats()).held == 1
            assert await frontier.begin(is_fresh=False, is_rerun=True)
            assert (await frontier.stats()).held == 0
            assert await frontier.add([request("http://gone/")]) == [AddStatus.QUEUED]
            assert len((await frontier.claim("me", 1)).claims) == 1

    async def test_who_starts_over_waits_for_nothing(self) -> None:
        async with self.opened(limits=HostLimits(delay_ms=2_000, concurrency=8)) as frontier:
            await frontier.add(requests(2))
            assert (await frontier.claim("me", 10)).next_in_ms == 2_000
            await frontier.begin(is_fresh=True, is_rerun=False)
            assert await frontier.claim("me", 10) == Claims([], None)
