"""The budgets of hosts."""

import pytest

from weft.config import HostLimits
from weft.records import Ending, PageKind, Visit
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


class BudgetContract(FrontierSuite):
    """Tests for delay, concurrency, back-off, and the line of hosts."""

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
                # Two answers to requests that were under way at the same time count once.
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

    async def test_a_claim_that_was_not_sent_costs_no_delay(self) -> None:
        limits = HostLimits(delay_ms=1_000, concurrency=8)
        async with self.opened(limits=limits) as frontier:
            await frontier.add(requests(4))
            for _ in range(3):
                claims = (await frontier.claim("me", 9)).claims
                assert len(claims) == 1
                assert (await frontier.claim("me", 9)).next_in_ms == 1_000
                await frontier.finish(done(claims, is_sent=False))
            [claim] = (await frontier.claim("you", 9)).claims
            self.clock.advance(10)
            await frontier.add(requests(2, kind=PageKind.NAV, is_forced=True))
            assert (await frontier.claim("you", 9)).next_in_ms == 990
            await frontier.finish(done([claim], sent_ago_ms=0))
            assert (await frontier.claim("you", 9)).next_in_ms == 1_000

    async def test_a_claim_that_was_not_sent_keeps_the_delay_of_what_was(self) -> None:
        limits = HostLimits(delay_ms=1_000, concurrency=8)
        async with self.opened(limits=limits) as frontier:
            await frontier.add(requests(4))
            slow = (await frontier.claim("me", 1)).claims
            self.clock.advance(1_000)
            sent = (await frontier.claim("me", 1)).claims
            self.clock.advance(300)
            await frontier.finish(done(slow, is_sent=False, sent_ago_ms=200))
            assert (await frontier.claim("me", 1)).next_in_ms == 800
            self.clock.advance(100)
            await frontier.finish(done(sent, sent_ago_ms=300))
            assert (await frontier.claim("me", 1)).next_in_ms == 700

    async def test_a_claim_that_was_not_sent_ends_no_pause(self) -> None:
        limits = HostLimits(delay_ms=2_000, concurrency=8)
        async with self.opened(limits=limits, backoff_ms=1_000) as frontier:
            await frontier.add(requests(2))
            claims = (await frontier.claim("me", 1)).claims
            tired = Visit("a", concurrency=8, status=429)
            await frontier.visit("me", [tired], keep_ms=MINUTE_MS)
            await frontier.finish(done(claims, is_sent=False))
            assert (await frontier.claim("me", 1)).next_in_ms == 2_000

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

    async def test_fewer_owners_share_a_host_if_it_says_so(self) -> None:
        own = {"host": HostLimits(concurrency=4, workers=1)}
        async with self.opened(limits_by_host=own, workers_per_host=2) as frontier:
            await frontier.add(requests(9, host="host"))
            claims = (await frontier.claim("a", 9)).claims
            assert len(claims) == 4
            await frontier.finish(done(claims[:1]))
            assert (await frontier.claim("b", 9)).claims == []
            assert len((await frontier.claim("a", 9)).claims) == 1

    async def test_limits_change_while_a_crawl_runs(self) -> None:
        async with self.opened() as frontier:
            await frontier.add(requests(30, host="host"))
            frontier.limit_hosts({"host": HostLimits(concurrency=2)})
            two = (await frontier.claim("me", 9)).claims
            assert len(two) == 2
            frontier.limit_hosts({"host": HostLimits(delay_ms=1_000)})
            await frontier.finish(done(two))
            assert len((await frontier.claim("me", 9)).claims) == 1
            self.clock.advance(999)
            assert (await frontier.claim("me", 9)).claims == []
            self.clock.advance(1)
            assert len((await frontier.claim("me", 9)).claims) == 1
            frontier.limit_hosts({"host": None})
            self.clock.advance(1_000)
            assert len((await frontier.claim("me", 9)).claims) == 9

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

    async def test_a_claim_is_explained_with_the_delay_that_its_host_has_now(self) -> None:
        async with self.opened() as frontier:
            await frontier.add(requests(2))
            first, second = (await frontier.claim("me", 2)).claims
            await frontier.finish(done([first], crawl_delay_ms=5_000))
            [told] = await frontier.explain([second.request.fingerprint])
            assert told.claim is not None
            assert told.claim.delay_ms == 5_000
