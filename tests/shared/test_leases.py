"""Leases of buckets: who has one claims, and nobody else; who takes it over loses nothing."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from launchers.redis import RedisServer
from servers import Kit, all_keys
from weft.clock import Clock
from weft.config import FrontierConfig, HostLimits, SharedConfig
from weft.errors import StoreError
from weft.frontier.base import Hold
from weft.frontier.redis import RedisFrontier, scripts
from weft.frontier.redis.groups import unpack_head
from weft.records import Claim, Ending, PackedRequest, PageKind
from weft.testing.clock import FakeClock
from weft.testing.frontier_contract import done, requests, tokens, urls

pytestmark = pytest.mark.timeout(60)

BUCKETS = 4
LEASE_MS = 1_000
NOTHING = Hold([], [], is_lost=False)


class Worker:
    """One of several on a frontier, each with a client of its own."""

    def __init__(self, frontier: RedisFrontier, name: str) -> None:
        self.frontier = frontier
        self.name = name

    async def hold(self, *wanted: int, may_evict: bool = True, sharers: int = 1) -> Hold:
        return await self.frontier.hold(
            self.name, wanted, lease_ms=LEASE_MS, may_evict=may_evict, sharers=sharers
        )

    async def claim(self, limit: int = 100) -> list[Claim]:
        return (await self.frontier.claim(self.name, limit)).claims

    async def finish(self, claims: Sequence[Claim], **fields: Any) -> list[bool]:
        return await self.frontier.finish(done(claims, **fields))

    async def release(self, claims: Sequence[Claim]) -> list[bool]:
        return await self.frontier.release(tokens(claims))

    async def renew(self, claims: Sequence[Claim]) -> list[bool]:
        return await self.frontier.renew(self.name, tokens(claims))

    def bucket_of(self, host: str) -> int:
        return self.frontier._buckets.layout.bucket_of(host).number

    def host_in(self, bucket: int) -> str:
        hosts = (f"host-{number}" for number in range(1_000))
        return next(host for host in hosts if self.bucket_of(host) == bucket)

    def pages_in(self, bucket: int, count: int = 5) -> list[PackedRequest]:
        return requests(count, self.host_in(bucket))


@asynccontextmanager
async def workers(
    kit: Kit, names: str = "one two", clock: Clock | None = None, **config: Any
) -> AsyncIterator[list[Worker]]:
    """In the order of their names; without a clock, the time is that of Redis."""
    config = {
        "limits": HostLimits(concurrency=1_000_000),
        "shared": SharedConfig(buckets=BUCKETS),
    } | config
    async with AsyncExitStack() as stack:
        opened = []
        for name in names.split():
            frontier = RedisFrontier(kit.url, "job", FrontierConfig(**config), clock)
            opened.append(Worker(await stack.enter_async_context(frontier), name))
        yield opened


# Holding


async def test_only_a_holder_claims(setup: Kit) -> None:
    async with workers(setup) as [one, two]:
        assert await one.hold(0, 2) == Hold([0, 2], [], is_lost=False)
        assert await two.hold() == NOTHING
        for bucket in range(BUCKETS):
            await two.frontier.add(two.pages_in(bucket))
        claims = await one.claim()
        assert Counter(one.bucket_of(c.request.host) for c in claims) == {0: 5, 2: 5}
        assert await two.claim() == []
        assert await two.hold(1, 2) == Hold([1], [], is_lost=False)
        assert {two.bucket_of(claim.request.host) for claim in await two.claim()} == {1}


async def test_who_holds_nothing_knows_of_nothing_to_wait_for(redis_server: RedisServer) -> None:
    async with workers(redis_server) as [one, two]:
        await one.hold(0)
        await two.hold()
        await one.frontier.add(one.pages_in(0))
        assert (await two.frontier.claim("two", 1)).next_in_ms is None


async def test_a_bucket_is_for_another_when_it_was_given_up(setup: Kit) -> None:
    async with workers(setup) as [one, two]:
        await one.frontier.add(one.pages_in(0))
        await one.hold(0)
        assert await two.hold(0) == NOTHING
        assert await two.claim() == []
        assert await one.hold() == NOTHING
        assert await one.claim() == []
        assert await two.hold(0) == Hold([0], [], is_lost=False)
        assert len(await two.claim()) == 5


async def test_who_ends_gives_everything_up_at_once(redis_server: RedisServer) -> None:
    async with workers(redis_server, "two") as [two]:
        async with workers(redis_server, "one") as [one]:
            await one.frontier.add(one.pages_in(0))
            await one.hold(0, 1)
            await one.claim(2)
        assert await two.hold(0, 1) == Hold([0, 1], [], is_lost=False)
        # What it had not finished is there again.
        assert urls(await two.claim()) == [page.url for page in two.pages_in(0)]
        assert (await two.frontier.stats()).reclaimed == 2


# Running out


async def test_a_lease_is_kept_as_long_as_it_lasts(redis_server: RedisServer) -> None:
    clock = FakeClock()
    async with workers(redis_server, clock=clock) as [one, two]:
        await one.hold(0)
        clock.advance(LEASE_MS - 1)
        assert await two.hold(0) == NOTHING
        await one.hold(0)
        clock.advance(LEASE_MS - 1)
        assert await two.hold(0) == NOTHING
        clock.advance(1)
        assert await two.hold(0) == Hold([0], [], is_lost=False)


@pytest.mark.parametrize("verb", ["finish", "renew", "release"])
async def test_who_takes_a_bucket_takes_all_claims_in_it(setup: Kit, verb: str) -> None:
    clock = FakeClock()
    async with workers(setup, clock=clock) as [one, two]:
        pages = one.pages_in(0) + one.pages_in(1)
        await one.frontier.add(pages)
        await one.hold(0, 1)
        claims = await one.claim(8)
        mine = [claim for claim in claims if one.bucket_of(claim.request.host) == 1]
        lost = [claim for claim in claims if one.bucket_of(claim.request.host) == 0]
        assert (len(mine), len(lost)) in {(5, 3), (3, 5), (4, 4)}
        clock.advance(LEASE_MS)
        assert await two.hold(0) == Hold([0], [], is_lost=False)
        stats = await two.frontier.stats()
        assert (stats.claimed, stats.queued, stats.reclaimed) == (
            len(mine),
            10 - len(mine),
            len(lost),
        )
        # It has not heard of that yet, and comes too late with whatever it does.
        answers = await getattr(one, verb)(claims)
        assert dict(zip(tokens(claims), answers, strict=True)) == dict.fromkeys(
            tokens(mine), True
        ) | dict.fromkeys(tokens(lost), False)
        assert (await two.frontier.stats()).stale == len(lost)
        assert await one.hold(0, 1) == Hold([1], [], is_lost=True)
        assert await one.hold(0, 1) == Hold([1], [], is_lost=False)


async def test_nothing_is_lost_and_nothing_is_handed_out_twice(redis_server: RedisServer) -> None:
    clock = FakeClock()
    async with workers(redis_server, clock=clock) as [one, two]:
        pages = one.pages_in(0, 7)
        await one.frontier.add(pages)
        await one.hold(0)
        first = await one.claim(5)
        assert await one.finish(first[:2]) == [True, True]
        clock.advance(LEASE_MS)
        await two.hold(0)
        second = await two.claim()
        # At the head of the queue, as they were.
        assert urls(second) == urls(first[2:]) + [page.url for page in pages[5:]]
        assert await one.finish(first[2:]) == [False] * 3
        assert await two.finish(second) == [True] * 5
        stats = await two.frontier.stats()
        assert (stats.done, stats.pending, stats.stale) == (7, 0, 3)


async def test_a_lease_that_nobody_has_taken_goes_on_with_its_claims(
    redis_server: RedisServer,
) -> None:
    clock = FakeClock()
    async with workers(redis_server, clock=clock) as [one, two]:
        await one.frontier.add(one.pages_in(0))
        await one.hold(0)
        claims = await one.claim(3)
        clock.advance(10 * LEASE_MS)
        assert await one.renew(claims) == [True] * 3
        assert await one.hold(0) == Hold([0], [], is_lost=False)
        assert await two.hold(0) == NOTHING
        assert await one.finish(claims) == [True] * 3
        assert len(await one.claim()) == 2


async def test_nothing_is_claimed_under_a_lease_that_has_run_out(redis_server: RedisServer) -> None:
    clock = FakeClock()
    async with workers(redis_server, "one", clock) as [one]:
        await one.frontier.add(one.pages_in(0))
        await one.hold(0)
        clock.advance(LEASE_MS)
        assert await one.claim() == []
        assert (await one.hold(0)).buckets == [0]
        assert len(await one.claim()) == 5


async def test_a_loss_that_a_claim_finds_is_told_by_the_next_hold(
    redis_server: RedisServer,
) -> None:
    clock = FakeClock()
    async with workers(redis_server, clock=clock) as [one, two]:
        await one.frontier.add(one.pages_in(0))
        await one.hold(0)
        await one.claim(1)
        clock.advance(LEASE_MS)
        await two.hold(0)
        assert await one.claim() == []
        assert await one.hold(0) == Hold([], [], is_lost=True)
        assert await one.hold(0) == NOTHING


async def test_a_lease_that_was_lost_and_got_again_is_told(redis_server: RedisServer) -> None:
    clock = FakeClock()
    async with workers(redis_server, clock=clock) as [one, two]:
        await one.frontier.add(one.pages_in(0))
        await one.hold(0)
        claims = await one.claim(1)
        clock.advance(LEASE_MS)
        await two.hold(0)
        await two.hold()
        assert await one.hold(0) == Hold([0], [], is_lost=True)
        assert await one.finish(claims) == [False]


async def test_who_may_not_evict_takes_only_what_is_free(redis_server: RedisServer) -> None:
    clock = FakeClock()
    async with workers(redis_server, clock=clock) as [one, two]:
        await one.frontier.add(one.pages_in(0))
        await one.hold(0)
        claims = await one.claim(2)
        clock.advance(10 * LEASE_MS)
        assert await two.hold(0, 1, may_evict=False) == Hold([1], [], is_lost=False)
        assert await one.finish(claims) == [True, True]
        assert await two.hold(0, 1) == Hold([0, 1], [], is_lost=False)


# Leaving


@pytest.mark.parametrize("verb", ["finish", "release"])
async def test_a_bucket_is_kept_until_its_last_claim_has_ended(
    redis_server: RedisServer, verb: str
) -> None:
    clock = FakeClock()
    async with workers(redis_server, clock=clock) as [one, two]:
        await one.frontier.add(one.pages_in(0))
        await one.hold(0, 1)
        claims = await one.claim(2)
        assert await one.hold(1) == Hold([0, 1], [0], is_lost=False)
        assert one.frontier.leaving(tokens(claims)) == tokens(claims)
        assert await one.claim() == []
        assert await two.hold(0) == NOTHING
        await getattr(one, verb)(claims[:1])
        clock.advance(LEASE_MS - 1)
        assert await one.hold(1) == Hold([0, 1], [0], is_lost=False)
        clock.advance(LEASE_MS - 1)  # it was kept
        assert await two.hold(0) == NOTHING
        assert await getattr(one, verb)(claims[1:]) == [True]
        assert await one.hold(1) == Hold([1], [], is_lost=False)
        assert await two.hold(0) == Hold([0], [], is_lost=False)
        assert len(await two.claim()) == {"finish": 3, "release": 5}[verb]
        assert (await two.frontier.stats()).reclaimed == 0


async def test_a_bucket_that_is_wanted_again_before_it_was_left_is_served(
    redis_server: RedisServer,
) -> None:
    async with workers(redis_server, "one") as [one]:
        await one.frontier.add(one.pages_in(0))
        await one.hold(0)
        claims = await one.claim(2)
        await one.hold()
        assert await one.hold(0) == Hold([0], [], is_lost=False)
        assert one.frontier.leaving(tokens(claims)) == []
        assert len(await one.claim()) == 3


async def test_a_bucket_that_is_being_left_can_be_lost_too(redis_server: RedisServer) -> None:
    clock = FakeClock()
    async with workers(redis_server, clock=clock) as [one, two]:
        await one.frontier.add(one.pages_in(0))
        await one.hold(0)
        claims = await one.claim(2)
        await one.hold()
        clock.advance(LEASE_MS)
        await two.hold(0)
        assert await one.hold() == Hold([], [], is_lost=True)
        assert await one.renew(claims) == [False, False]


async def test_a_lease_that_ran_out_is_left_only_after_its_claims(
    redis_server: RedisServer,
) -> None:
    clock = FakeClock()
    async with workers(redis_server, clock=clock) as [one, two]:
        await one.frontier.add(one.pages_in(0))
        await one.hold(0)
        claims = await one.claim(2)
        clock.advance(LEASE_MS)
        await one.claim()  # is refused
        hold = await one.hold()
        assert (hold.buckets, hold.leaving) == ([0], [0])
        assert await two.hold(0) == NOTHING
        assert await one.finish(claims) == [True, True]
        assert (await one.hold()).buckets == []
        assert await two.hold(0, may_evict=False) == Hold([0], [], is_lost=False)


# Several workers for a host


async def test_a_bucket_has_as_many_holders_as_a_host_may_have(redis_server: RedisServer) -> None:
    clock = FakeClock()
    limits = HostLimits(concurrency=4)
    names = "one two three"
    async with workers(redis_server, names, clock, workers_per_host=2, limits=limits) as [
        one,
        two,
        three,
    ]:
        await one.frontier.add(one.pages_in(0, 20))
        assert (await one.hold(0, sharers=2)).buckets == [0]
        assert (await two.hold(0, sharers=2)).buckets == [0]
        assert (await three.hold(0, sharers=2)).buckets == []
        # Each has its part of what the host allows.
        firsts, seconds = await one.claim(), await two.claim()
        assert (len(firsts), len(seconds)) == (2, 2)
        assert await three.claim() == []
        # One is heard of no more: its claims go back, those of the other stay.
        clock.advance(LEASE_MS // 2)
        await two.hold(0, sharers=2)
        clock.advance(LEASE_MS // 2)
        assert (await three.hold(0, sharers=2)).buckets == [0]
        assert await one.finish(firsts) == [False, False]
        assert await two.finish(seconds) == [True, True]
        assert urls(await three.claim()) == urls(firsts)


# Budgets


async def test_the_delay_of_a_host_is_kept_when_its_bucket_is_taken(
    redis_server: RedisServer,
) -> None:
    clock = FakeClock()
    limits = HostLimits(delay_ms=700)
    async with workers(redis_server, clock=clock, limits=limits) as [one, two]:
        await one.frontier.add(one.pages_in(0))
        await one.hold(0)
        assert len(await one.claim()) == 1
        clock.advance(LEASE_MS)
        await two.hold(0)
        # It may have been sent at the last moment.
        assert await two.claim() == []
        clock.advance(699)
        assert await two.claim() == []
        clock.advance(1)
        assert len(await two.claim()) == 1


async def test_the_delay_of_a_host_is_kept_when_its_bucket_is_given_up(
    redis_server: RedisServer,
) -> None:
    clock = FakeClock()
    limits = HostLimits(delay_ms=700)
    async with workers(redis_server, clock=clock, limits=limits) as [one, two]:
        await one.frontier.add(one.pages_in(0))
        await one.hold(0)
        [claim] = await one.claim()
        clock.advance(600)
        await one.finish([claim], sent_ago_ms=100)
        await one.hold()
        await two.hold(0)
        clock.advance(599)
        assert await two.claim() == []
        clock.advance(1)
        assert len(await two.claim()) == 1


async def test_a_host_that_backs_off_does_so_for_the_next_holder_too(
    redis_server: RedisServer,
) -> None:
    clock = FakeClock()
    async with workers(redis_server, clock=clock) as [one, two]:
        await one.frontier.add(one.pages_in(0))
        await one.hold(0)
        [claim] = await one.claim(1)
        await one.finish([claim], status=429, retry_after_ms=5_000, ending=Ending.DONE)
        clock.advance(LEASE_MS)
        await two.hold(0)
        assert await two.claim() == []
        clock.advance(4_000)
        await two.hold(0)
        assert len(await two.claim()) == 4


# The store


async def test_leases_survive_a_restart_of_the_store() -> None:
    clock = FakeClock()
    with RedisServer(durable=True) as server:
        async with workers(server, clock=clock) as [one, two]:
            await one.frontier.add(one.pages_in(0))
            await one.hold(0)
            claims = await one.claim(2)
            server.kill()
            server.start()
            assert await two.hold(0, 1) == Hold([1], [], is_lost=False)
            assert await one.hold(0) == Hold([0], [], is_lost=False)
            assert await one.renew(claims) == [True, True]
            assert len(await one.claim()) == 3


async def test_leases_are_kept_by_a_store_without_memory() -> None:
    with RedisServer() as server:
        async with workers(server, "one") as [one]:
            await one.frontier.add(one.pages_in(0))
            await one.hold(0)
            claims = await one.claim(2)
            server.ask("CONFIG", "SET", "maxmemory", 1)
            async with asyncio.timeout(5):
                assert await one.hold(0) == Hold([0], [], is_lost=False)
                assert await one.finish(claims) == [True, True]
            server.ask("CONFIG", "SET", "maxmemory", 0)


async def test_clearing_forgets_leases(setup: Kit) -> None:
    async with workers(setup) as [one, two]:
        await one.hold(0, 1)
        await two.hold(2)
        await two.frontier.clear()
        assert all_keys(setup) == []
        await two.frontier.add(two.pages_in(0))
        assert await two.hold(0) == Hold([0], [], is_lost=False)
        with pytest.raises(StoreError, match="cleared or started over"):
            await one.claim()
        assert len(await two.claim()) == 5


async def test_clearing_one_kind_keeps_leases(redis_server: RedisServer) -> None:
    async with workers(redis_server) as [one, two]:
        await one.hold(0)
        await two.frontier.clear(PageKind.DATA)
        assert await two.hold(0) == NOTHING
        assert await one.hold(0) == Hold([0], [], is_lost=False)


async def test_a_crawl_that_starts_over_begins_without_leases(redis_server: RedisServer) -> None:
    async with workers(redis_server) as [one, two]:
        await one.frontier.add(one.pages_in(0))
        await one.hold(0)
        claims = await one.claim(2)
        assert await two.frontier.begin(is_fresh=True, is_rerun=False)
        await two.frontier.add(two.pages_in(0))
        assert await two.hold(0) == Hold([0], [], is_lost=False)
        assert await one.finish(claims) == [False, False]
        assert len(await two.claim()) == 5


async def test_who_joins_a_crawl_leaves_the_leases_alone(redis_server: RedisServer) -> None:
    async with workers(redis_server) as [one, two]:
        await one.hold(0)
        assert not await two.frontier.begin(is_fresh=False, is_rerun=True)
        assert await two.hold(0) == NOTHING


async def test_a_crawl_with_nothing_to_do_just_now_is_not_taken_from_its_worker(
    redis_server: RedisServer,
) -> None:
    async with workers(redis_server) as [one, two]:
        await one.hold(0)
        await one.frontier.add(one.pages_in(0))
        await one.finish(await one.claim(10))
        assert not await two.frontier.begin(is_fresh=False, is_rerun=True)
        await one.frontier.mark_finished()  # it is about to end
        assert await two.frontier.begin(is_fresh=False, is_rerun=True)


async def test_a_crawl_whose_worker_is_gone_starts_over(redis_server: RedisServer) -> None:
    clock = FakeClock()
    async with workers(redis_server, clock=clock) as [one, two]:
        await one.hold(0)
        await one.frontier.add(one.pages_in(0))
        await one.finish(await one.claim(10))
        clock.advance(LEASE_MS)
        assert await two.frontier.begin(is_fresh=False, is_rerun=True)


async def test_leases_are_free_at_once_when_their_workers_are_known_to_be_dead(
    setup: Kit,
) -> None:
    async with workers(setup) as [one, two]:
        await one.hold(0, 1)
        assert (await two.hold(0, 1, may_evict=False)).buckets == []
        await two.frontier.forget_leases()
        assert (await two.hold(0, 1, may_evict=False)).buckets == [0, 1]


# Races


async def unleased_claims(worker: Worker) -> list[str]:
    """Owners that have claims in a bucket without a lease of it."""
    commands = [
        (verb, f"{bucket.prefix}{key}")
        for bucket in worker.frontier._buckets.layout.buckets
        for verb, key in (("HVALS", "claims"), ("HKEYS", "lease"))
    ]
    answers = iter(await worker.frontier._client.run(commands))
    strangers = []
    for heads, holders in zip(answers, answers, strict=True):
        names = {name.decode() for name in holders}
        strangers += [owner for head in heads if (owner := unpack_head(head).owner) not in names]
    return strangers


async def test_no_claim_is_made_in_a_bucket_that_is_given_up_meanwhile(
    redis_server: RedisServer,
) -> None:
    async with workers(redis_server) as both:
        for bucket in range(BUCKETS):
            await both[0].frontier.add(both[0].pages_in(bucket, 400))
        for worker in both:
            await worker.hold()
        fetched: Counter[str] = Counter()

        async def work(worker: Worker, first: int) -> None:
            # Half of the buckets; each time one of them goes to the other worker.
            half = [(first + place) % BUCKETS for place in range(BUCKETS // 2)]
            claims, hold, more = await asyncio.gather(
                worker.claim(3), worker.hold(*half), worker.claim(3)
            )
            assert not hold.is_lost
            assert await unleased_claims(worker) == []
            claims += more
            answers, hold = await asyncio.gather(worker.finish(claims), worker.hold(*half))
            assert all(answers)
            assert not hold.is_lost
            fetched.update(urls(claims))

        for number in range(100):
            await asyncio.gather(work(both[0], number), work(both[1], number + BUCKETS // 2))
        stats = await both[0].frontier.stats()
        assert (fetched.total(), stats.done) == (len(fetched), len(fetched))
        assert stats.done > 100
        assert (stats.stale, stats.reclaimed, stats.claimed) == (0, 0, 0)


async def test_a_call_to_claim_that_arrives_late_does_nothing(redis_server: RedisServer) -> None:
    """The network may deliver what its sender has given up long ago."""

    config = FrontierConfig(shared=SharedConfig(buckets=1))
    async with RedisFrontier(redis_server.url, "job", config) as frontier:
        await frontier.add(requests(3))
        await frontier.hold("me", {0}, lease_ms=10_000, may_evict=True, sharers=1)
        [bucket] = frontier._buckets.layout.buckets
        late = scripts.ClaimCall(0, "me", frontier._leases.token(bucket), 1, 1, 1, 0)
        heard = (await frontier.claim("me", 1)).claims
        for _ in range(2):
            command = scripts.CLAIM.call(bucket.prefix, bucket.config, late)
            [raw] = await frontier._client.run([command])
            assert len(raw) == 1
        heard += (await frontier.claim("me", 10)).claims
        assert len(heard) == 3


async def test_giving_up_that_arrives_late_does_not_end_a_new_lease(
    redis_server: RedisServer,
) -> None:
    config = FrontierConfig(shared=SharedConfig(buckets=1))
    async with RedisFrontier(redis_server.url, "job", config) as frontier:
        [bucket] = frontier._buckets.layout.buckets
        await frontier.hold("me", {0}, lease_ms=10_000, may_evict=True, sharers=1)
        late = scripts.GiveUp(0, "me", frontier._leases.token(bucket))
        await frontier.hold("me", set(), lease_ms=10_000, may_evict=True, sharers=1)
        await frontier.hold("me", {0}, lease_ms=10_000, may_evict=True, sharers=1)
        await frontier._client.run([scripts.GIVE_UP.call(bucket.prefix, bucket.config, late)])
        await frontier.add(requests(3))
        assert len((await frontier.claim("me", 3)).claims) == 3
