"""The contract of `weft.frontier.base.Frontier` as tests: subclass, name your backend, run pytest.

    class TestMine(FrontierContract):
        def make(self, config, clock, rng):
            return MyFrontier(config, clock, rng)

`make` is called again with the same place to reopen a store that outlives its object.
"""

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, ClassVar

import pytest

from weft.clock import Clock
from weft.config import FrontierConfig, HostLimits, SharedConfig
from weft.frontier.base import Frontier
from weft.records import (
    AddStatus,
    Claim,
    Ending,
    HostKey,
    Hour,
    Order,
    Outcome,
    PackedRequest,
    PageKind,
)
from weft.testing.clock import FakeClock
from weft.testing.turns_contract import TurnsContract
from weft.urls import fingerprint, host_key

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS


def request(url: str, **fields: Any) -> PackedRequest:
    """A packed request for a URL, with other fields as given."""
    defaults: dict[str, Any] = {"fingerprint": fingerprint(url), "url": url, "host": host_key(url)}
    return PackedRequest(**(defaults | fields))


def requests(count: int, host: str = "a", **fields: Any) -> list[PackedRequest]:
    return [request(f"http://{host}/{i}", **fields) for i in range(count)]


def urls(claims: Sequence[Claim]) -> list[str]:
    return [claim.request.url for claim in claims]


def tokens(claims: Sequence[Claim]) -> list[int]:
    return [claim.token for claim in claims]


def done(claims: Sequence[Claim], **fields: Any) -> list[Outcome]:
    """Outcomes of these claims: done with status 200, but for what is given."""
    told = {"ending": Ending.DONE, "status": 200} | fields
    return [Outcome(token=claim.token, **told) for claim in claims]


class FrontierContract(TurnsContract):
    """What holds for every frontier."""

    #: State outlives the object: closed and opened again, it goes on.
    SURVIVES_REOPEN: ClassVar[bool] = True
    #: Claims of a closed frontier go back to their queues when it is opened.
    RECLAIMS_AT_OPEN: ClassVar[bool] = True
    #: All hosts stand in one line; else each bucket has its own.
    HAS_ONE_LINE: ClassVar[bool] = True

    clock: FakeClock

    @pytest.fixture(autouse=True)
    def _fresh_clock(self) -> None:
        self.clock = FakeClock()

    def make(self, config: FrontierConfig, clock: Clock, rng: random.Random) -> Frontier:
        raise NotImplementedError

    @asynccontextmanager
    async def opened(self, **config: Any) -> AsyncIterator[Frontier]:
        config.setdefault("limits", HostLimits(concurrency=1_000_000))
        frontier = self.make(FrontierConfig(**config), self.clock, random.Random(1))
        async with frontier:
            yield frontier

    # Adding

    @pytest.mark.parametrize("count", [1, 2, 3, 1000])
    async def test_what_is_added_is_claimed(self, count: int) -> None:
        async with self.opened() as frontier:
            added = requests(count)
            assert await frontier.add(added) == [AddStatus.QUEUED] * count
            claims = (await frontier.claim("me", count + 1)).claims
            assert [claim.request for claim in claims] == added
            assert all(claim.owner == "me" for claim in claims)

    async def test_an_empty_batch_changes_nothing(self) -> None:
        async with self.opened() as frontier:
            assert await frontier.add([]) == []
            assert await frontier.finish([]) == []
            assert await frontier.renew("me", []) == []
            assert await frontier.release([]) == []
            claims = await frontier.claim("me", 10)
            assert claims.claims == []
            assert claims.next_in_ms is None

    async def test_a_request_comes_back_as_it_was(self) -> None:
        async with self.opened() as frontier:
            given = request(
                "http://a/ü?x=中",
                kind=PageKind.NAV,
                priority=-7,
                payload=bytes(range(256)),
                found_on=5,
                is_forced=True,
            )
            await frontier.add([given])
            [claim] = (await frontier.claim("me", 1)).claims
            assert claim.request == given

    async def test_known_requests_are_not_queued_again(self) -> None:
        async with self.opened() as frontier:
            [one, two] = requests(2)
            statuses = await frontier.add([one, one, two])
            assert statuses == [AddStatus.QUEUED, AddStatus.KNOWN, AddStatus.QUEUED]
            assert await frontier.add([two]) == [AddStatus.KNOWN]
            claims = (await frontier.claim("me", 10)).claims
            await frontier.finish(done(claims))
            assert await frontier.add([one]) == [AddStatus.KNOWN]
            assert (await frontier.claim("me", 10)).claims == []
            stats = await frontier.stats()
            assert (stats.added, stats.known) == (2, 3)

    async def test_a_forced_request_is_queued_though_known(self) -> None:
        async with self.opened() as frontier:
            again = request("http://a/", is_forced=True)
            statuses = await frontier.add([request("http://a/"), again, again])
            assert statuses == [AddStatus.QUEUED] * 3
            assert len((await frontier.claim("me", 10)).claims) == 3

    async def test_what_was_fetched_elsewhere_is_known(self) -> None:
        async with self.opened() as frontier:
            [queued, fetched, other, forced] = requests(4)
            await frontier.add([queued])
            learned = [queued, fetched, forced]
            for _ in range(2):  # it may be done again
                await frontier.learn([r.fingerprint for r in learned])
            dropped = request(fetched.url, dropped_by="rule")
            again = request(forced.url, is_forced=True)
            statuses = await frontier.add([queued, fetched, dropped, other, again])
            known, new = AddStatus.KNOWN, AddStatus.QUEUED
            assert statuses == [known, known, known, new, new]
            stats = await frontier.stats()
            assert (stats.known, stats.added, stats.dropped) == (3, 3, 0)
            [told] = await frontier.explain([fetched.fingerprint])
            assert (told.kind, told.fetches) == (PageKind.DATA, ())
            claims = (await frontier.claim("me", 9)).claims
            assert urls(claims) == [r.url for r in (queued, other, forced)]

    async def test_what_was_learned_and_fails_is_bad_like_any_other(self) -> None:
        async with self.opened(bad_url_ms=HOUR_MS) as frontier:
            page = request("http://a/")
            await frontier.learn([page.fingerprint])
            await frontier.add([request(page.url, is_forced=True)])
            claims = (await frontier.claim("me", 1)).claims
            await frontier.finish(done(claims, ending=Ending.FAILED, status=0))
            assert await frontier.add([page]) == [AddStatus.BAD]
            self.clock.advance(HOUR_MS)
            assert await frontier.add([page]) == [AddStatus.QUEUED]

    @pytest.mark.parametrize("count", [0, 1, 3000])
    async def test_any_number_of_fingerprints_can_be_learned(self, count: int) -> None:
        async with self.opened() as frontier:
            known = requests(count)
            await frontier.learn([r.fingerprint for r in known])
            assert await frontier.add(known) == [AddStatus.KNOWN] * count
            assert await frontier.add(requests(2, "b")) == [AddStatus.QUEUED] * 2

    async def test_what_was_learned_is_forgotten_like_data(self) -> None:
        async with self.opened() as frontier:
            known = requests(300)
            await frontier.learn([r.fingerprint for r in known])
            await frontier.clear(PageKind.NAV)
            assert await frontier.add(known) == [AddStatus.KNOWN] * 300
            await frontier.clear(PageKind.DATA)
            assert await frontier.add(known[:9]) == [AddStatus.QUEUED] * 9
            await frontier.learn([r.fingerprint for r in known])
            await frontier.clear()
            assert await frontier.add(known[9:]) == [AddStatus.QUEUED] * 291
            await frontier.learn([r.fingerprint for r in known])
            await frontier.begin(is_fresh=True, is_rerun=False)
            assert await frontier.add(known) == [AddStatus.QUEUED] * 300

    async def test_a_dropped_request_is_remembered_and_not_queued(self) -> None:
        async with self.opened() as frontier:
            drop = request("http://a/deep", dropped_by="depth limit 3")
            assert await frontier.add([drop, drop]) == [AddStatus.DROPPED] * 2
            assert (await frontier.claim("me", 10)).claims == []
            assert (await frontier.stats()).dropped == 1
            [told] = await frontier.explain([drop.fingerprint])
            assert (told.dropped_by, told.url) == ("depth limit 3", "http://a/deep")
            # Found again by a shorter way, it is taken.
            assert await frontier.add([request("http://a/deep")]) == [AddStatus.QUEUED]
            assert await frontier.add([drop]) == [AddStatus.KNOWN]
            [told] = await frontier.explain([drop.fingerprint])
            assert told.dropped_by == ""

    # Order

    @pytest.mark.parametrize("batch", [1, 2, 3, 100])
    async def test_bfs_serves_the_oldest_first(self, batch: int) -> None:
        added = requests(7)
        assert await self.served(Order.BFS, added, batch) == [r.url for r in added]

    @pytest.mark.parametrize("batch", [1, 2, 3, 100])
    async def test_dfs_serves_the_newest_first(self, batch: int) -> None:
        added = requests(7)
        assert await self.served(Order.DFS, added, batch) == [r.url for r in reversed(added)]

    @pytest.mark.parametrize("batch", [1, 2, 3, 100])
    async def test_priority_serves_the_highest_first_and_equals_in_turn(self, batch: int) -> None:
        priorities = [0, 5, -3, 5, 0, 2**40, -(2**40)]
        added = [request(f"http://a/{i}", priority=p) for i, p in enumerate(priorities)]
        expected = [f"http://a/{i}" for i in (5, 1, 3, 0, 4, 2, 6)]
        assert await self.served(Order.PRIORITY, added, batch) == expected

    async def test_random_serves_all_and_in_no_order(self) -> None:
        added = requests(200)
        served = await self.served(Order.RANDOM, added, 3)
        assert sorted(served) == sorted(r.url for r in added)
        assert served != [r.url for r in added]
        assert served != [r.url for r in reversed(added)]

    @pytest.mark.parametrize("order", [Order.BFS, Order.DFS])
    async def test_priority_means_nothing_to_other_orders(self, order: Order) -> None:
        plain = await self.served(order, requests(20), 4)
        ranked = [request(f"http://a/{i}", priority=i % 3) for i in range(20)]
        assert await self.served(order, ranked, 4) == plain

    @pytest.mark.parametrize("order", list(Order))
    async def test_data_is_served_before_nav(self, order: Order) -> None:
        kinds = [PageKind.NAV, PageKind.DATA] * 5
        added = [request(f"http://a/{i}", kind=k, priority=-k) for i, k in enumerate(kinds)]
        served = await self.served(order, added, 3)
        assert {int(url[-1]) % 2 for url in served[:5]} == {1}

    @pytest.mark.parametrize("order", list(Order))
    @pytest.mark.parametrize("ending", ["release", "reclaim"])
    async def test_what_is_given_back_is_served_next(self, order: Order, ending: str) -> None:
        async with self.opened(order=order) as frontier:
            await frontier.add(requests(9))
            first = (await frontier.claim("me", 4)).claims
            if ending == "release":
                assert await frontier.release(tokens(first)) == [True] * 4
            else:
                self.clock.advance(2 * MINUTE_MS)
                assert await frontier.reclaim() == 4
            again = (await frontier.claim("me", 4)).claims
            if order is Order.RANDOM:
                rest = (await frontier.claim("me", 9)).claims
                assert sorted(urls(again + rest)) == [f"http://a/{i}" for i in range(9)]
            else:
                assert urls(again) == urls(first)

    async def served(self, order: Order, added: list[PackedRequest], batch: int) -> list[str]:
        """The URLs as they are claimed in batches after all were added."""
        result: list[str] = []

        async with self.opened(order=order) as frontier:
            await frontier.clear()
            await frontier.add(added)
            while claims := (await frontier.claim("me", batch)).claims:
                result.extend(urls(claims))
        return result

    # Claims

    async def test_a_claimed_request_is_not_handed_out_again(self) -> None:
        async with self.opened(workers_per_host=2) as frontier:
            await frontier.add(requests(3))
            mine = (await frontier.claim("me", 2)).claims
            yours = (await frontier.claim("you", 2)).claims
            assert len({*urls(mine), *urls(yours)}) == 3
            assert len({*tokens(mine), *tokens(yours)}) == 3

    async def test_an_overdue_claim_is_given_to_another(self) -> None:
        async with self.opened(claim_ms=2 * MINUTE_MS) as frontier:
            await frontier.add(requests(1))
            [old] = (await frontier.claim("me", 1)).claims
            self.clock.advance(2 * MINUTE_MS - 1)
            assert await frontier.reclaim() == 0
            self.clock.advance(1)
            assert await frontier.reclaim() == 1
            [new] = (await frontier.claim("you", 1)).claims
            assert (new.request, new.owner) == (old.request, "you")
            assert new.token != old.token
            # Too late: what the first says no longer counts.
            assert await frontier.finish(done([old])) == [False]
            assert await frontier.renew("me", [old.token]) == [False]
            assert await frontier.release([old.token]) == [False]
            stats = await frontier.stats()
            assert (stats.stale, stats.claimed, stats.done) == (3, 1, 0)
            assert await frontier.finish(done([new])) == [True]

    async def test_what_is_stale_counts_as_often_as_it_comes(self) -> None:
        async with self.opened() as frontier:
            await frontier.add(requests(2))
            [one, two] = tokens((await frontier.claim("me", 2)).claims)
            await frontier.renew("me", [one])
            self.clock.advance(2 * MINUTE_MS - 1)
            await frontier.renew("me", [one])
            self.clock.advance(1)
            await frontier.reclaim()
            answers = await frontier.renew("me", [two, one, two, one])
            assert answers == [False, True, False, True]
            assert (await frontier.stats()).stale == 2
            assert await frontier.release([one, one]) == [True, True]
            assert (await frontier.stats()).stale == 3

    async def test_a_renewed_claim_is_not_overdue(self) -> None:
        async with self.opened(claim_ms=2 * MINUTE_MS) as frontier:
            await frontier.add([*requests(1, "a"), *requests(1, "b")])
            [kept] = (await frontier.claim("me", 1)).claims
            [lost] = (await frontier.claim("you", 1)).claims
            self.clock.advance(MINUTE_MS)
            assert await frontier.renew("me", [kept.token]) == [True]
            self.clock.advance(MINUTE_MS)
            assert await frontier.reclaim() == 1
            assert await frontier.finish(done([kept, lost])) == [True, False]

    async def test_a_claim_of_another_is_neither_renewed_nor_put_back(self) -> None:
        async with self.opened(claim_ms=2 * MINUTE_MS) as frontier:
            await frontier.add([*requests(2, "a"), *requests(2, "b")])
            mine = (await frontier.claim("me", 1)).claims
            theirs = (await frontier.claim("you", 1)).claims
            self.clock.advance(MINUTE_MS)
            assert await frontier.renew("me", tokens([*mine, *theirs])) == [True, False]
            self.clock.advance(MINUTE_MS)
            assert await frontier.reclaim() == 1
            assert await frontier.finish(done([*mine, *theirs])) == [True, False]

    async def test_what_its_owner_does_not_know_of_is_put_back(self) -> None:
        limits = HostLimits(delay_ms=2_000, concurrency=1)
        async with self.opened(limits_by_host={"slow": limits}) as frontier:
            await frontier.add([*requests(4, "quick"), *requests(2, "slow")])
            claims = (await frontier.claim("me", 10)).claims
            assert len(claims) == 5
            [slow] = [claim for claim in claims if claim.request.host == "slow"]
            [quick, *known] = [claim for claim in claims if claim.request.host == "quick"]
            self.clock.advance(1_000)
            assert await frontier.renew("me", tokens(known)) == [True] * 3
            stats = await frontier.stats()
            assert (stats.claimed, stats.queued, stats.reclaimed) == (3, 3, 2)
            assert await frontier.finish(done([*known, quick, slow])) == [True] * 3 + [False] * 2
            # They may have been sent: a host with a delay has it from now on.
            assert urls((await frontier.claim("me", 10)).claims) == [quick.request.url]
            self.clock.advance(1_999)
            assert (await frontier.claim("me", 10)).claims == []
            self.clock.advance(1)
            assert urls((await frontier.claim("me", 10)).claims) == [slow.request.url]

    async def test_an_owner_that_knows_of_nothing_has_nothing(self) -> None:
        async with self.opened() as frontier:
            await frontier.add([*requests(5, "a"), *requests(5, "b")])
            claims = (await frontier.claim("me", 10)).claims
            assert await frontier.renew("me", []) == []
            again = (await frontier.claim("me", 10)).claims
            assert urls(again) == urls(claims)
            assert not {*tokens(again)} & {*tokens(claims)}

    # Budget

    async def test_a_host_is_not_claimed_within_its_delay(self) -> None:
        limits = HostLimits(delay_ms=2_000, concurrency=8)
        async with self.opened(limits=limits) as frontier:
            await frontier.add(requests(3))
            first = await frontier.claim("me", 10)
            assert len(first.claims) == 1
            assert first.claims[0].delay_ms == 2_000
            assert first.next_in_ms == 2_000
            self.clock.advance(1_999)
            assert (await frontier.claim("me", 10)).claims == []
            self.clock.advance(1)
            assert len((await frontier.claim("me", 10)).claims) == 1

    async def test_a_host_has_no_more_claims_than_its_concurrency(self) -> None:
        async with self.opened(limits=HostLimits(concurrency=2)) as frontier:
            await frontier.add(requests(5))
            claims = (await frontier.claim("me", 10)).claims
            assert len(claims) == 2
            answer = await frontier.claim("me", 10)
            assert (answer.claims, answer.next_in_ms) == ([], None)
            await frontier.finish(done(claims[:1]))
            assert len((await frontier.claim("me", 10)).claims) == 1

    async def test_single_hosts_can_have_limits_of_their_own(self) -> None:
        own = {"b": HostLimits(delay_ms=500, concurrency=1)}
        async with self.opened(limits_by_host=own) as frontier:
            await frontier.add(requests(3, "a") + requests(3, "b"))
            claims = (await frontier.claim("me", 10)).claims
            assert [c.request.host for c in claims].count("b") == 1
            assert [c.request.host for c in claims].count("a") == 3

    async def test_a_host_that_must_wait_does_not_hold_up_others(self) -> None:
        slow = {"a": HostLimits(delay_ms=HOUR_MS, concurrency=8)}
        async with self.opened(limits_by_host=slow) as frontier:
            await frontier.add(requests(500, "a") + requests(5, "b"))
            claims = (await frontier.claim("me", 100)).claims
            assert [c.request.host for c in claims].count("b") == 5
            await frontier.add([request("http://b/late")])
            assert urls((await frontier.claim("me", 100)).claims) == ["http://b/late"]

    async def test_hosts_share_what_is_claimed(self) -> None:
        if not self.HAS_ONE_LINE:
            pytest.skip("this backend has a line for each bucket")

        async with self.opened() as frontier:
            await frontier.add(requests(100, "a") + requests(100, "b") + requests(2, "c"))
            claims = (await frontier.claim("me", 30)).claims
            hosts = [claim.request.host for claim in claims]
            assert len(hosts) == 30
            assert hosts.count("c") == 2
            assert hosts.count("a") >= 10
            assert hosts.count("b") >= 10

    async def test_the_host_that_waited_longest_comes_first(self) -> None:
        if not self.HAS_ONE_LINE:
            pytest.skip("this backend has a line for each bucket")

        async with self.opened() as frontier:
            for host in ("c", "a", "b"):
                await frontier.add(requests(2, host))
                self.clock.advance(1)
            order = []
            for _ in range(6):
                [claim] = (await frontier.claim("me", 1)).claims
                order.append(claim.request.host)
                self.clock.advance(1)
            assert order == ["c", "a", "b", "c", "a", "b"]

    @pytest.mark.parametrize("status", [429, 503])
    async def test_a_host_that_has_had_enough_is_left_alone(self, status: int) -> None:
        async with self.opened(backoff_ms=1_000) as frontier:
            await frontier.add(requests(9))
            pauses = []
            for _ in range(3):
                claims = (await frontier.claim("me", 2)).claims
                # Two answers to requests that were under way together count once.
                await frontier.finish(done(claims, status=status, ending=Ending.REPLACED))
                answer = await frontier.claim("me", 2)
                assert answer.claims == []
                assert answer.next_in_ms is not None
                pauses.append(answer.next_in_ms)
                self.clock.advance(pauses[-1])
            assert pauses == [1_000, 2_000, 4_000]
            claims = (await frontier.claim("me", 1)).claims
            await frontier.finish(done(claims))
            assert len((await frontier.claim("me", 2)).claims) == 2

    async def test_the_delay_counts_from_the_moment_of_sending(self) -> None:
        limits = HostLimits(delay_ms=1_000, concurrency=8)
        async with self.opened(limits=limits) as frontier:
            await frontier.add(requests(3))
            claims = (await frontier.claim("me", 1)).claims
            self.clock.advance(950)
            await frontier.finish(done(claims, sent_ago_ms=50))
            self.clock.advance(949)
            assert (await frontier.claim("you", 1)).claims == []
            self.clock.advance(1)
            claims = (await frontier.claim("you", 1)).claims
            assert len(claims) == 1
            # Sent at once: nothing is added to the delay.
            self.clock.advance(10)
            await frontier.finish(done(claims, sent_ago_ms=10))
            assert (await frontier.claim("you", 1)).next_in_ms == 990

    async def test_a_reclaimed_request_may_have_been_sent_just_now(self) -> None:
        limits = HostLimits(delay_ms=1_000, concurrency=8)
        async with self.opened(limits=limits, claim_ms=MINUTE_MS) as frontier:
            await frontier.add(requests(2))
            await frontier.claim("me", 1)
            self.clock.advance(MINUTE_MS)
            assert await frontier.reclaim() == 1
            assert (await frontier.claim("you", 1)).next_in_ms == 1_000

    async def test_one_owner_at_a_time_has_claims_of_a_host(self) -> None:
        async with self.opened(claim_ms=MINUTE_MS) as frontier:
            await frontier.add(requests(9))
            mine = (await frontier.claim("me", 4)).claims
            answer = await frontier.claim("you", 9)
            assert (answer.claims, answer.next_in_ms) == ([], None)
            # The owner itself may have more.
            mine += (await frontier.claim("me", 1)).claims
            assert len(mine) == 5
            await frontier.finish(done(mine[1:]))
            assert (await frontier.claim("you", 9)).claims == []
            await frontier.release(tokens(mine[:1]))
            yours = (await frontier.claim("you", 9)).claims
            assert len(yours) == 5
            self.clock.advance(MINUTE_MS)
            await frontier.reclaim()
            assert len((await frontier.claim("me", 9)).claims) == 5

    async def test_more_owners_share_a_host_if_told_so(self) -> None:
        async with self.opened(workers_per_host=2) as frontier:
            await frontier.add(requests(9))
            first = (await frontier.claim("a", 2)).claims
            assert len((await frontier.claim("b", 2)).claims) == 2
            assert (await frontier.claim("c", 2)).claims == []
            await frontier.finish(done(first))
            assert len((await frontier.claim("c", 2)).claims) == 2
            assert (await frontier.claim("a", 2)).claims == []

    async def test_a_host_with_a_delay_has_one_owner(self) -> None:
        limits = HostLimits(delay_ms=1_000, concurrency=8)
        async with self.opened(limits=limits, workers_per_host=4) as frontier:
            await frontier.add(requests(9))
            claims = (await frontier.claim("me", 1)).claims
            self.clock.advance(1_000)
            assert (await frontier.claim("you", 1)).claims == []
            await frontier.finish(done(claims))
            assert len((await frontier.claim("you", 1)).claims) == 1

    async def test_retry_after_is_kept(self) -> None:
        async with self.opened() as frontier:
            await frontier.add(requests(2))
            claims = (await frontier.claim("me", 1)).claims
            outcome = done(claims, status=429, retry_after_ms=30_000, ending=Ending.REPLACED)
            await frontier.finish(outcome)
            self.clock.advance(29_999)
            assert (await frontier.claim("me", 1)).claims == []
            self.clock.advance(1)
            assert len((await frontier.claim("me", 1)).claims) == 1

    async def test_a_pause_that_a_server_asks_for_has_a_bound(self) -> None:
        async with self.opened(max_pause_ms=HOUR_MS) as frontier:
            await frontier.add(requests(2))
            claims = (await frontier.claim("me", 1)).claims
            await frontier.finish(done(claims, status=503, retry_after_ms=999 * HOUR_MS))
            self.clock.advance(HOUR_MS)
            assert len((await frontier.claim("me", 1)).claims) == 1

    async def test_a_crawl_delay_becomes_the_delay_of_its_host(self) -> None:
        async with self.opened() as frontier:
            await frontier.add(requests(9))
            claims = (await frontier.claim("me", 1)).claims
            await frontier.finish(done(claims, crawl_delay_ms=5_000))
            [claim] = (await frontier.claim("me", 9)).claims
            assert claim.delay_ms == 5_000
            assert (await frontier.claim("me", 9)).claims == []
            self.clock.advance(5_000)
            assert len((await frontier.claim("me", 9)).claims) == 1

    # Bad URLs and hosts

    async def test_a_failed_url_is_taken_again_after_its_time(self) -> None:
        async with self.opened(bad_url_ms=HOUR_MS) as frontier:
            [one] = requests(1)
            await frontier.add([one])
            claims = (await frontier.claim("me", 1)).claims
            await frontier.finish(done(claims, ending=Ending.FAILED, status=404))
            assert await frontier.add([one]) == [AddStatus.BAD]
            self.clock.advance(HOUR_MS)
            assert await frontier.add([one]) == [AddStatus.QUEUED]
            assert await frontier.add([one]) == [AddStatus.KNOWN]
            assert (await frontier.stats()).skipped_bad == 1

    async def test_requests_of_a_bad_host_are_kept_until_its_time(self) -> None:
        async with self.opened(bad_host_ms=HOUR_MS) as frontier:
            await frontier.add(requests(3, "nowhere"))
            claims = (await frontier.claim("me", 1)).claims
            await frontier.finish(done(claims, ending=Ending.FAILED, status=0, is_host_bad=True))
            assert (await frontier.claim("me", 9)).claims == []
            await frontier.add([request("http://nowhere/late")])
            stats = await frontier.stats()
            assert (stats.queued, stats.held, stats.pending) == (4, 4, 0)
            self.clock.advance(HOUR_MS)
            again = (await frontier.claim("me", 9)).claims
            assert sorted(urls(again)) == [
                *(f"http://nowhere/{i}" for i in range(3)),
                "http://nowhere/late",
            ]
            stats = await frontier.stats()
            assert (stats.held, stats.pending) == (0, 4)

    async def test_several_hosts_may_turn_out_bad_at_once(self) -> None:
        async with self.opened() as frontier:
            await frontier.add([*requests(1, "a"), *requests(2, "b"), *requests(2, "c")])
            claims = (await frontier.claim("me", 9)).claims
            bad = [claim for claim in claims if claim.request.host != "a"]
            outcomes = done(bad, ending=Ending.FAILED, status=0, is_host_bad=True)
            assert await frontier.finish(outcomes) == [True] * 4
            stats = await frontier.stats()
            assert (stats.queued, stats.held, stats.claimed) == (4, 4, 1)
            self.clock.advance(HOUR_MS)
            again = (await frontier.claim("me", 9)).claims
            assert sorted(urls(again)) == sorted(urls(bad))

    async def test_a_host_that_does_not_exist_holds_up_no_other_of_its_host_key(self) -> None:
        async with self.opened(bad_host_ms=HOUR_MS) as frontier:
            gone, there = (
                [request(f"http://{name}.example/{i}", host="example") for i in range(2)]
                for name in ("gone", "www")
            )
            await frontier.add([*gone, *there])
            claims = (await frontier.claim("me", 2)).claims
            outcomes = done(claims, ending=Ending.FAILED, status=0, is_host_bad=True)
            assert await frontier.finish(outcomes) == [True, True]
            stats = await frontier.stats()
            assert (stats.queued, stats.held, stats.pending) == (4, 2, 2)
            rest = (await frontier.claim("me", 9)).claims
            assert [claim.request for claim in rest] == there
            await frontier.finish(done(rest))
            assert (await frontier.stats()).pending == 0
            self.clock.advance(HOUR_MS)
            again = (await frontier.claim("me", 9)).claims
            assert sorted(urls(again)) == sorted(urls(claims))
            assert {claim.request.host for claim in again} == {"gone.example"}
            await frontier.finish(done(again))
            assert await frontier.add([*gone, *there]) == [AddStatus.KNOWN] * 4

    async def test_a_host_name_that_begins_like_its_key_keeps_its_url(self) -> None:
        async with self.opened(bad_host_ms=HOUR_MS) as frontier:
            given = request("http://a.b.example/", host="a")
            await frontier.add([given])
            claims = (await frontier.claim("me", 1)).claims
            assert [claim.request for claim in claims] == [given]
            await frontier.finish(done(claims, ending=Ending.FAILED, status=0, is_host_bad=True))
            self.clock.advance(HOUR_MS)
            assert urls((await frontier.claim("me", 1)).claims) == [given.url]

    async def test_a_bad_host_of_a_host_key_is_explained(self) -> None:
        async with self.opened(bad_host_ms=HOUR_MS) as frontier:
            gone = request("http://gone.example/", host="example")
            await frontier.add([gone])
            claims = (await frontier.claim("me", 1)).claims
            await frontier.finish(done(claims, ending=Ending.FAILED, status=0, is_host_bad=True))
            [told] = await frontier.explain([gone.fingerprint])
            assert told.url == gone.url
            assert told.host is not None
            assert (told.host.host, told.host.queued) == ("gone.example", 1)
            assert told.host.bad_until_ms == self.clock.now_ms() + HOUR_MS

    # Host keys

    async def test_the_first_key_that_a_host_name_gets_is_kept(self) -> None:
        async with self.opened() as frontier:
            assert await frontier.fix_keys([("a", ""), ("b", "")]) == ["", ""]
            assert await frontier.fix_keys([("a", "1"), ("b", "1"), ("a", "2")]) == ["1", "1", "1"]
            assert await frontier.fix_keys([("a", "3"), ("c", ""), ("ü", "4")]) == ["1", "", "4"]
            assert await frontier.fix_keys([]) == []

    async def test_keys_of_host_names_are_forgotten_with_everything(self) -> None:
        async with self.opened() as frontier:
            await frontier.add(requests(1))
            await frontier.fix_keys([("a", "1")])
            await frontier.clear(PageKind.DATA)
            assert await frontier.fix_keys([("a", "2")]) == ["1"]
            await frontier.begin(is_fresh=True, is_rerun=False)
            assert await frontier.fix_keys([("a", "3")]) == ["3"]
            await frontier.clear()
            assert await frontier.fix_keys([("a", "4")]) == ["4"]

    async def test_keys_of_host_names_outlive_a_process(self) -> None:
        if not self.SURVIVES_REOPEN:
            pytest.skip("this backend forgets when it is closed")
        async with self.opened() as frontier:
            await frontier.fix_keys([("a", "1")])
        async with self.opened() as frontier:
            assert await frontier.fix_keys([("a", "2")]) == ["1"]

    async def test_a_job_keeps_the_host_key_that_it_was_begun_with(self) -> None:
        if not self.SURVIVES_REOPEN:
            pytest.skip("this backend forgets when it is closed")
        async with self.opened(shared=SharedConfig(host_key=HostKey.DOMAIN)) as frontier:
            assert str(frontier.host_key) == "domain"
            await frontier.add(requests(1))
        async with self.opened(shared=SharedConfig(host_key=HostKey.IP)) as frontier:
            await frontier.begin(is_fresh=False, is_rerun=False)
            assert str(frontier.host_key) == "domain"
            await frontier.begin(is_fresh=True, is_rerun=False)
            assert str(frontier.host_key) == "ip"
            await frontier.add(requests(1))
        async with self.opened() as frontier:
            assert str(frontier.host_key) == "ip"

    # Counting

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
            # Several hosts, for a backend may divide them.
            await frontier.add([request(f"http://{host}/") for host in "abcdefgh"])
            claims = (await frontier.claim("me", 8)).claims
            now_ms = self.clock.now_ms()
            next_ms = now_ms // HOUR_MS * HOUR_MS + HOUR_MS
            await frontier.finish(done(claims[:2], items=3))
            self.clock.advance(next_ms - 1 - now_ms)
            await frontier.finish(done(claims[2:3], ending=Ending.FAILED, items=1))
            self.clock.advance(1)
            await frontier.finish(done(claims[3:5]) + done(claims[5:6], ending=Ending.FAILED))
            # What is neither done nor failed makes no hour of its own.
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
            # It is not finished: it goes on.
            assert not await frontier.begin(is_fresh=False, is_rerun=True)
            assert await frontier.add(requests(2)) == [AddStatus.KNOWN] * 2
            await frontier.mark_finished()
            assert not await frontier.begin(is_fresh=False, is_rerun=False)
            assert await frontier.add(requests(2)) == [AddStatus.KNOWN] * 2
            await frontier.mark_finished()
            assert await frontier.begin(is_fresh=False, is_rerun=True)
            assert await frontier.add(requests(2)) == [AddStatus.QUEUED] * 2
            assert await frontier.begin(is_fresh=True, is_rerun=False)
            assert await frontier.add(requests(2)) == [AddStatus.QUEUED] * 2

    # Explaining

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
            # It does not make its URL known; and what became of it stays so.
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

    # Clearing

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
            # Navigation starts over, fetched pages too; articles stay known.
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

    # Surviving

    async def test_state_survives_closing(self) -> None:
        if not self.SURVIVES_REOPEN:
            pytest.skip("this backend forgets when it is closed")

        slow = HostLimits(delay_ms=10_000, concurrency=3)
        async with self.opened(limits=slow) as frontier:
            await frontier.add(requests(5))
            claims = (await frontier.claim("me", 1)).claims
            await frontier.finish(done(claims))
            self.clock.advance(1)
            before = await frontier.stats()
            hours = await frontier.hours()
            await frontier.learn([7])
        async with self.opened(limits=slow) as frontier:
            assert await frontier.stats() == before
            assert len(await frontier.hours()) == 1
            assert await frontier.hours() == hours
            assert await frontier.add([request("http://b/", fingerprint=7)]) == [AddStatus.KNOWN]
            assert await frontier.add(requests(5)) == [AddStatus.KNOWN] * 5
            # The host is still within its delay.
            assert (await frontier.claim("me", 1)).claims == []
            self.clock.advance(9_999)
            assert urls((await frontier.claim("me", 1)).claims) == ["http://a/1"]

    async def test_claims_of_a_dead_owner_come_back_when_the_store_is_opened(self) -> None:
        if not self.RECLAIMS_AT_OPEN:
            pytest.skip("this backend waits for the deadline")

        async with self.opened() as frontier:
            await frontier.add(requests(5))
            first = (await frontier.claim("me", 3)).claims
        async with self.opened() as frontier:
            again = (await frontier.claim("me", 3)).claims
            assert urls(again) == urls(first)
            assert (await frontier.stats()).reclaimed == 3
