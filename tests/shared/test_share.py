"""Shares of several workers: who serves which bucket as workers come, go and hang."""

import asyncio
import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from launchers.redis import RedisServer
from weft.cluster.jobs import Jobs
from weft.cluster.membership import Membership
from weft.cluster.status import JobState, Status
from weft.config import FrontierConfig, HostLimits, SharedConfig
from weft.engine.claims import share as module
from weft.engine.claims.assembly import make_claim_parts
from weft.engine.claims.delivery import Delivery
from weft.engine.claims.rounds import Rounds
from weft.engine.claims.share import Share
from weft.errors import WeftError
from weft.frontier.redis import RedisFrontier
from weft.records import Claim, Ending, Outcome, Stats, Strategy
from weft.redis.client import Client
from weft.sinks import SinkConfig
from weft.sinks.deadletters import DeadLetters
from weft.testing.frontier_contract import done, request
from weft.testing.waiting import until, wait_until

pytestmark = pytest.mark.timeout(60)

BUCKETS = 16
ALL = set(range(BUCKETS))
LEASE_S = 1.0
#: How long it may take to notice, in addition to the time of a lease.
NOTICE_S = 1.5


@pytest.fixture
def old_server(redis_server: RedisServer) -> RedisServer:
    """A server that has been up for a while: nobody is evicted on one that has just started."""
    wait_until(
        lambda: int(redis_server.ask("INFO", "server")["uptime_in_seconds"]) > LEASE_S,
        "the server has been up for longer than a lease",
    )
    return redis_server


class Peer:
    """A worker: a share of a frontier, and what it has reported."""

    def __init__(
        self, name: str, frontier: RedisFrontier, client: Client, weight: float | None
    ) -> None:
        self.name = name
        self.frontier = frontier
        self.status = Status()
        self.share = share = Share(
            frontier,
            Membership(client, "job", name),
            owner=name,
            workers_per_host=frontier._config.workers_per_host,
            lease_s=LEASE_S,
            weight=weight,
            status=lambda: self.status,
        )
        self.doubts = 0
        self.lapses: list[str] = []
        self.states: list[JobState] = []
        self.errors: list[Exception] = []
        self.on_lapse: Callable[[], None] = lambda: None
        share.after_doubt = self._note_doubt
        share.after_lapse = self._note_lapse
        share.after_beat = self.states.append
        share.after_error = self.errors.append
        self._beats: asyncio.Future[None] | None = None

    def _note_doubt(self) -> None:
        self.doubts += 1

    def _note_lapse(self, why: str) -> None:
        self.lapses.append(why)
        self.on_lapse()

    @property
    def buckets(self) -> set[int]:
        return set(self.share.buckets)

    @property
    def served(self) -> set[int]:
        """The buckets that it would claim from at this moment."""
        leases = self.frontier._leases
        if not self.states:
            return set()  # it is not there yet
        return {
            bucket.number
            for bucket in self.frontier._buckets.layout.buckets
            if leases.serves(bucket)
        }

    async def start(self) -> None:
        await self.share.beat()
        self.go_on()

    def go_on(self) -> None:
        self._beats = asyncio.ensure_future(self.share.run())

    async def hang(self) -> None:
        """Send no more signs of life, as if it were dead; it still knows what time it is."""
        if self._beats is not None:
            self._beats.cancel()
            with suppress(asyncio.CancelledError):
                await self._beats

    async def claim(self, limit: int = 100) -> list[Claim]:
        return (await self.frontier.claim(self.name, limit)).claims

    async def finish(self, claims: Sequence[Claim]) -> list[bool]:
        return await self.frontier.finish(done(claims))


@asynccontextmanager
async def peers(
    server: RedisServer,
    names: str = "a b",
    *,
    weight: float | None = 1.0,
    workers_per_host: int = 1,
    shape: SharedConfig | None = None,
) -> AsyncIterator[list[Peer]]:
    """They have not said yet that they are there."""
    config = FrontierConfig(
        limits=HostLimits(concurrency=1_000),
        workers_per_host=workers_per_host,
        shared=shape or SharedConfig(buckets=BUCKETS),
    )
    async with AsyncExitStack() as stack:
        opened = []
        for name in names.split():
            frontier = RedisFrontier(server.url, "job", config)
            await stack.enter_async_context(frontier)
            client = await stack.enter_async_context(Client(server.url))
            peer = Peer(name, frontier, client, weight)
            stack.push_async_callback(peer.share.close)
            stack.push_async_callback(peer.hang)
            opened.append(peer)
        yield opened


async def settle(*everyone: Peer) -> None:
    """Let all hear of each other, give up, and take."""
    for _ in range(3):
        for peer in everyone:
            await peer.share.beat()


@contextmanager
def watched(*everyone: Peer) -> Iterator[None]:
    """Looks all the time whether two serve the same bucket."""

    def check() -> None:
        counts = Counter(bucket for peer in everyone for bucket in peer.served)
        assert counts.total() == len(counts), {peer.name: peer.served for peer in everyone}

    async def look() -> None:
        while True:
            check()
            await asyncio.sleep(0.002)

    looks = asyncio.ensure_future(look())
    try:
        yield
    finally:
        looks.cancel()
        if looks.done() and not looks.cancelled():
            looks.result()


async def add_pages(peer: Peer, hosts: int = 64, count: int = 5) -> None:
    await peer.frontier.add(
        [request(f"http://host-{host}/{page}") for host in range(hosts) for page in range(count)]
    )


# Dividing


async def test_the_virtual_table_is_as_long_as_the_job_says(old_server: RedisServer) -> None:
    """Buckets 3, 9 and 15 stay with the first; by modulo the second would have them."""
    shape = SharedConfig(buckets=BUCKETS, assignment=Strategy.TWO_LEVEL, virtual_nodes=3)
    async with peers(old_server, shape=shape) as [a, b]:
        await a.share.beat()
        await settle(a, b)
        assert a.buckets == {0, 2, 3, 6, 8, 9, 12, 14, 15}
        assert b.buckets == ALL - a.buckets


async def test_two_divide_the_buckets_without_overlap_and_without_rest(
    old_server: RedisServer,
) -> None:
    async with peers(old_server) as [a, b]:
        await a.share.beat()
        assert a.buckets == ALL
        await settle(a, b)
        assert a.buckets | b.buckets == ALL
        assert not a.buckets & b.buckets
        assert len(a.buckets) == len(b.buckets) == BUCKETS // 2
        assert (a.served, b.served) == (a.buckets, b.buckets)


async def test_a_host_that_several_may_serve_is_in_the_shares_of_several(
    old_server: RedisServer,
) -> None:
    async with peers(old_server, "a b c", workers_per_host=2) as everyone:
        await settle(*everyone)
        counts = Counter(bucket for peer in everyone for bucket in peer.buckets)
        assert counts == dict.fromkeys(ALL, 2)


async def test_who_has_more_weight_has_more_buckets(old_server: RedisServer) -> None:
    async with (
        peers(old_server, "a b", weight=1.0) as [a, b],
        peers(old_server, "c", weight=2.0) as [c],
    ):
        await settle(a, b, c)
        assert a.buckets | b.buckets | c.buckets == ALL
        assert [len(peer.buckets) for peer in (a, b, c)] == [4, 4, 8]


async def test_a_worker_weighs_itself_against_the_others_unless_its_weight_is_given(
    old_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        peers(old_server, "a b", weight=None) as [a, b],
        peers(old_server, "c", weight=1.0) as [c],
    ):
        await settle(a, b, c)
        assert (a.share.weight, b.share.weight, c.share.weight) == (1.0, 1.0, 1.0)
        a.status, b.status, c.status = (Status(speed=speed) for speed in (100, 300, 100))
        await settle(a, b, c)
        assert b.share.weight == 1.0  # not before it is time to
        monkeypatch.setattr(module, "WEIGH_S", 0.0)
        await settle(a, b, c)
        assert (a.share.weight, b.share.weight, c.share.weight) == (1.0, 3.0, 1.0)
        assert len(b.buckets) > len(a.buckets) + len(c.buckets)
        c.status = Status(speed=1_000)
        await settle(a, b, c)
        assert c.share.weight == 1.0


# Joining and leaving


async def test_at_no_moment_do_two_serve_a_bucket_when_one_joins(old_server: RedisServer) -> None:
    async with peers(old_server, "a b c") as [a, b, c]:
        await a.start()
        await add_pages(a)
        with watched(a, b, c):
            await asyncio.gather(b.start(), c.start())

            async def work(peer: Peer) -> int:
                fetched = 0
                while (await peer.frontier.stats()).pending:
                    claims = await peer.claim(2)
                    await asyncio.sleep(0.01)
                    assert all(await peer.finish(claims))
                    fetched += len(claims)
                return fetched

            fetched = await asyncio.gather(*map(work, (a, b, c)))
            assert min(fetched) > 0
            everyone = (a, b, c)
            await until(
                lambda: max(len(peer.buckets) for peer in everyone) <= BUCKETS // 3 + 1,
                "all have their shares",
            )
        stats = await a.frontier.stats()
        assert (stats.done, stats.reclaimed, stats.stale) == (64 * 5, 0, 0)
        assert a.lapses + b.lapses + c.lapses == []


async def test_a_bucket_is_handed_over_when_its_last_claim_has_ended(
    old_server: RedisServer,
) -> None:
    async with peers(old_server) as [a, b]:
        await a.share.beat()
        await add_pages(a, count=1)
        claims = await a.claim()
        assert len(claims) == 64
        await settle(a, b)
        # It has work in all of them.
        assert a.buckets == ALL
        assert b.buckets == set()
        leaving = a.share.leaving([claim.token for claim in claims])
        assert 0 < len(leaving) < 64
        await a.finish([claim for claim in claims if claim.token in leaving])
        await settle(a, b)
        assert len(a.buckets) == len(b.buckets) == BUCKETS // 2
        assert not a.buckets & b.buckets


async def test_a_worker_that_keeps_others_waiting_too_long_must_cut_off_its_work(
    old_server: RedisServer,
) -> None:
    async with peers(old_server) as [a, b]:
        await a.start()
        await add_pages(a, count=1)
        claims = await a.claim()
        await b.start()
        waited_s = await until(lambda: bool(a.lapses), "it has to")
        assert waited_s > 0.9 * LEASE_S
        assert a.lapses == ["other workers wait for buckets of this one"]
        assert await a.frontier.release([claim.token for claim in claims]) == [True] * 64
        await until(lambda: len(b.buckets) == BUCKETS // 2, "the other has its share")
        assert (await a.frontier.stats()).reclaimed == 0


async def test_a_worker_that_was_held_up_has_time_to_end_its_work(old_server: RedisServer) -> None:
    """While a callback blocks the event loop, pages that have arrived cannot end."""
    async with peers(old_server) as [a, b]:
        await a.share.beat()
        await add_pages(a, count=1)
        claims = await a.claim()
        await b.share.beat()
        await a.share.beat()
        assert a.share.leaving([claim.token for claim in claims])
        a.share.lease_time.extend(time.monotonic() + 2 * LEASE_S)  # as its keeper does
        await asyncio.sleep(2 * LEASE_S)
        await a.share.beat()
        await a.share.beat()
        assert a.lapses == []
        assert all(await a.finish(claims))


async def test_its_keeper_does_not_miss_what_is_being_given_up(
    old_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The event loop may be blocked before the answer of the store is read."""
    async with peers(old_server) as [a, b], Client(old_server.url) as keeper:
        await a.share.beat()
        await b.share.beat()
        client = a.frontier._leasing._client
        run, kept = client.run, []

        async def run_and_keep(commands: Sequence[tuple[Any, ...]]) -> list[Any]:
            answers = await run(commands)
            kept.append(await a.share.stay(keeper))
            return answers

        with monkeypatch.context() as patch:
            patch.setattr(client, "run", run_and_keep)
            await a.share.beat()
        assert len(a.buckets) == BUCKETS // 2
        assert len(kept) > 1
        assert all(kept)


async def test_a_worker_that_closes_leaves_its_buckets_to_the_others_at_once(
    old_server: RedisServer,
) -> None:
    async with peers(old_server, "a") as [a]:
        async with peers(old_server, "b") as [b]:
            await settle(a, b)
        await a.share.beat()
        assert a.buckets == ALL


async def test_a_worker_that_retires_keeps_what_it_works_on(old_server: RedisServer) -> None:
    async with peers(old_server) as [a, b]:
        await settle(a, b)
        await add_pages(a, count=1)
        await a.claim()
        claims = await b.claim(1)
        [claim] = claims[:1]
        await b.finish(claims[1:])
        b.share.retire()
        await settle(a, b)
        assert len(b.buckets) == 1
        assert b.served == set()
        assert a.buckets == ALL - b.buckets
        assert await b.finish([claim]) == [True]
        await settle(a, b)
        assert (a.buckets, b.buckets) == (ALL, set())


# Dying and hanging


async def test_the_buckets_of_the_dead_are_taken_within_the_lease_time(
    old_server: RedisServer,
) -> None:
    async with peers(old_server) as [a, b]:
        await settle(a, b)
        await add_pages(a)
        claims = await b.claim()
        a.go_on()
        await b.share.beat()  # its last
        taken_s = await until(lambda: a.buckets == ALL, "one has all buckets")
        assert 0.9 * LEASE_S <= taken_s <= LEASE_S + NOTICE_S
        assert (await a.frontier.stats()).reclaimed == len(claims)
        assert not any(await b.finish(claims))
        assert len(await a.claim(1_000)) == 64 * 5


async def test_a_worker_that_hangs_stops_before_another_can_have_its_buckets(
    old_server: RedisServer,
) -> None:
    async with peers(old_server) as [a, b]:
        await settle(a, b)
        mine = b.buckets
        taken_at_lapse = []
        b.on_lapse = lambda: taken_at_lapse.append(a.served & mine)
        a.go_on()
        await b.share.beat()
        assert b.share.lease_time.is_sure
        lapsed_s = await until(lambda: bool(b.lapses), "its time is over")
        assert lapsed_s <= LEASE_S
        assert not b.share.lease_time.is_sure
        assert b.lapses == ["the leases of this worker were not kept in time"]
        await until(lambda: a.buckets == ALL, "one has all buckets")
        assert taken_at_lapse == [set()]


async def test_a_worker_that_comes_back_doubts_its_claims_and_gets_its_share_again(
    old_server: RedisServer,
) -> None:
    async with peers(old_server) as [a, b]:
        await settle(a, b)
        await add_pages(a)
        claims = await b.claim()
        a.go_on()
        await until(lambda: a.buckets == ALL, "one has all buckets")
        doubts = b.doubts
        await b.share.beat()
        assert b.doubts == doubts + 1
        assert b.share.lease_time.is_sure
        assert b.buckets == set()
        assert not any(await b.frontier.renew("b", [claim.token for claim in claims]))
        b.go_on()
        with watched(a, b):
            await until(lambda: len(b.buckets) == BUCKETS // 2, "it has its share again")
        assert b.doubts == doubts + 1


async def test_who_comes_back_in_time_keeps_everything(old_server: RedisServer) -> None:
    async with peers(old_server, "b") as [b]:
        await b.share.beat()
        await add_pages(b)
        claims = await b.claim()
        doubts = b.doubts
        await until(lambda: bool(b.lapses), "its time is over")
        await b.share.beat()
        # Nobody has taken anything; but it could not know.
        assert b.doubts == doubts + 1
        assert b.buckets == ALL
        assert all(await b.finish(claims))


async def test_after_a_gap_nobody_is_evicted_for_the_time_of_a_lease(
    old_server: RedisServer,
) -> None:
    async with peers(old_server) as [a, b]:
        await settle(a, b)
        mine = a.buckets
        await asyncio.sleep(1.2 * LEASE_S)  # neither sends a sign of life
        await a.start()
        patient_s = await until(lambda: a.buckets != mine, "the other is taken for dead")
        assert patient_s >= 0.95 * LEASE_S
        more_s = await until(lambda: a.buckets == ALL, "one has all buckets")
        assert patient_s + more_s <= LEASE_S + NOTICE_S


async def test_a_store_that_stood_still_changes_nothing(old_server: RedisServer) -> None:
    async with peers(old_server, "a b c") as everyone:
        await settle(*everyone)
        await add_pages(everyone[0])
        claims = [await peer.claim(1_000) for peer in everyone]
        before = [peer.buckets for peer in everyone]
        for peer in everyone:
            peer.go_on()
        members = everyone[0].share._membership.view
        old_server.stop()
        try:
            await asyncio.sleep(1.5 * LEASE_S)
        finally:
            old_server.cont()
        doubts = [peer.doubts for peer in everyone]
        await until(
            lambda: all(peer.share.lease_time.is_sure for peer in everyone), "all are sure again"
        )
        assert all(peer.doubts > old for peer, old in zip(everyone, doubts, strict=True))
        assert [len(peer.lapses) for peer in everyone] == [1, 1, 1]
        await asyncio.sleep(LEASE_S / 2)
        assert [peer.buckets for peer in everyone] == before
        assert everyone[0].share._membership.view == members
        for peer, own in zip(everyone, claims, strict=True):
            assert all(await peer.finish(own))


async def test_on_a_store_that_has_just_come_up_nobody_is_evicted() -> None:
    with RedisServer(durable=True) as server:
        async with peers(server) as [a, b]:
            await settle(a, b)
            server.kill()
            await asyncio.sleep(LEASE_S)
            up_s = time.monotonic()
            server.start()
            # One that is new, and has missed nothing itself.
            async with peers(server, "c") as [c]:
                await c.start()
                await until(lambda: bool(c.buckets), "the others are taken for dead")
                assert time.monotonic() - up_s >= 0.95 * LEASE_S


async def test_a_store_has_just_come_up_for_the_time_of_a_lease() -> None:
    with RedisServer() as server:
        async with peers(server, "a") as [a]:
            await a.start()
            assert await until(a.share._may_evict, "it is old enough") < 1.5 * LEASE_S


async def test_a_share_that_cannot_go_on_says_so(redis_server: RedisServer) -> None:
    async with peers(redis_server, "a") as [a]:
        await a.start()
        redis_server.ask("DEL", "weft:{job}:members")
        redis_server.ask("SET", "weft:{job}:members", "nonsense")
        await until(lambda: bool(a.errors), "it says that it cannot go on")
        assert "WRONGTYPE" in str(a.errors[0])
        redis_server.ask("FLUSHALL")


async def test_a_share_that_meets_a_bug_ends_the_crawl_instead_of_leaving_it_waiting(
    redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(state: JobState) -> None:
        raise ValueError("a bug")

    async with peers(redis_server, "a") as [a]:
        a.share.after_beat = fail
        await a.share.run()
    [told] = a.errors
    assert isinstance(told, WeftError)
    assert "ValueError('a bug')" in str(told)
    assert "the share failed" in caplog.text


async def test_a_share_that_was_closed_sends_no_more_signs_of_life(
    redis_server: RedisServer,
) -> None:
    async with peers(redis_server, "a") as [a]:
        a.share.after_beat = lambda state: closing.append(asyncio.ensure_future(a.share.close()))
        closing: list[asyncio.Future[None]] = []
        await a.share.run()
        await asyncio.gather(*closing)
    assert len(closing) == 1
    assert a.errors == []


async def test_claims_are_not_renewed_before_the_leases_are_sure(old_server: RedisServer) -> None:
    async with peers(old_server, "a") as [a]:
        worker = Worker(a)
        await worker.renewals.renew()
        assert worker.renewals.due_at_s == -math.inf
        await a.share.beat()
        await worker.renewals.renew()
        assert worker.renewals.is_sure


# What the workers are ordered to do


async def test_an_order_to_the_workers_reaches_each_of_them(old_server: RedisServer) -> None:
    async with peers(old_server) as [a, b], Client(old_server.url) as client:
        jobs = Jobs(client)
        for state in (JobState.RUNNING, JobState.PAUSED, JobState.STOPPED):
            await jobs.set_state("job", state)
            for peer in (a, b):
                await peer.share.beat()
                assert peer.states[-1] is state


class Worker:
    """The parts of a worker on a share, and what a scheduler would do with them."""

    def __init__(self, peer: Peer, concurrency: int = 1) -> None:
        self.peer = peer
        parts = make_claim_parts(
            peer.frontier,
            Delivery([], DeadLetters(SinkConfig(Path("nowhere")))),
            owner=peer.name,
            capacity=16,
            config=peer.frontier._config,
            concurrency_of=lambda host: concurrency,
            sent_ago_ms=lambda host: 0,
            share=peer.share,
        )
        self.activity = parts.activity
        self.hand = parts.hand
        self.buffer = parts.buffer
        self.renewals = parts.renewals
        self.supply = parts.supply
        self.finisher = parts.finisher
        self.rounds = Rounds(parts)
        peer.share.after_doubt = self.renewals.doubt
        peer.share.after_error = self.rounds.give_up
        peer.share.after_beat = lambda state: self.supply.pause(
            is_paused=state is not JobState.RUNNING
        )
        self.fetched: list[str] = []

    async def taken(self) -> Claim:
        while (claim := self.supply.take()) is None:
            assert self.rounds.error is None
            await asyncio.sleep(0.005)
        return claim

    def end(self, claim: Claim) -> None:
        self.supply.downloaded(claim.request.host)
        self.buffer.put_outcome(Outcome(claim.token, Ending.DONE, 200))
        self.fetched.append(claim.request.url)

    async def crawl(self) -> None:
        """Until nothing is left to do, anywhere."""
        while not self.activity.is_finished:
            assert self.rounds.error is None
            if (claim := self.supply.take()) is not None:
                await asyncio.sleep(0.005)
                self.end(claim)
            else:
                await asyncio.sleep(0.005)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        await self.peer.start()
        rounds = asyncio.ensure_future(self.rounds.run())
        try:
            yield
        finally:
            self.rounds.stop()
            await rounds
            await self.rounds.flush()


async def until_stats(
    frontier: RedisFrontier, predicate: Callable[[Stats], bool], description: str
) -> None:
    async def is_so() -> bool:
        return predicate(await frontier.stats())

    await until(is_so, description)


async def test_a_paused_job_gives_back_what_waits_and_goes_on_when_resumed(
    old_server: RedisServer,
) -> None:
    async with peers(old_server, "a") as [a], Client(old_server.url) as client:
        jobs = Jobs(client)
        worker = Worker(a)
        await add_pages(a, hosts=2, count=20)
        async with worker.running():
            claim = await worker.taken()
            await until_stats(a.frontier, lambda stats: stats.claimed > 1, "some wait")
            await jobs.set_state("job", JobState.PAUSED)
            await until_stats(a.frontier, lambda stats: stats.claimed == 1, "they are back")
            assert worker.supply.take() is None
            # What is under way ends, and nothing is claimed in its place.
            worker.end(claim)
            await until_stats(a.frontier, lambda stats: stats.done == 1, "it has ended")
            for _ in range(20):
                assert worker.supply.take() is None
                assert (await a.frontier.stats()).claimed == 0
                await asyncio.sleep(0.02)
            assert a.buckets == ALL
            assert not worker.activity.is_finished
            await jobs.set_state("job", JobState.RUNNING)
            await worker.crawl()
        assert (await a.frontier.stats()).done == 40
        assert len(set(worker.fetched)) == len(worker.fetched) == 40


async def test_what_waits_in_a_bucket_that_is_for_another_is_given_back(
    old_server: RedisServer,
) -> None:
    async with peers(old_server) as [a, b]:
        first, second = Worker(a, concurrency=4), Worker(b, concurrency=4)
        await add_pages(a, hosts=32, count=10)
        async with first.running():
            in_hand = [await first.taken() for _ in range(4)]
            async with second.running():
                # Its buckets are free but for those of what is in the other's hands.
                await until(lambda: len(b.buckets) >= BUCKETS // 2 - 4, "it has a share")
                for claim in in_hand:
                    first.end(claim)
                await until(lambda: len(b.buckets) == BUCKETS // 2, "it has its share")
                await asyncio.gather(first.crawl(), second.crawl())
        stats = await a.frontier.stats()
        assert (stats.done, stats.stale, stats.reclaimed) == (320, 0, 0)
        assert len({*first.fetched, *second.fetched}) == 320
        assert min(len(first.fetched), len(second.fetched)) > 40
        assert first.finisher.late == second.finisher.late == 0


async def test_what_a_dead_worker_had_in_its_hands_is_fetched_by_another(
    old_server: RedisServer,
) -> None:
    async with peers(old_server) as [a, b]:
        first, second = Worker(a), Worker(b)
        await settle(a, b)
        await add_pages(a, hosts=32, count=5)
        rounds = asyncio.ensure_future(second.rounds.run())
        for _ in range(4):
            await second.taken()
        rounds.cancel()  # with its hands full
        async with first.running():
            await first.crawl()
        stats = await a.frontier.stats()
        assert (stats.done, stats.claimed) == (160, 0)
        assert stats.reclaimed >= 4
        assert len(set(first.fetched)) == len(first.fetched) == 160


async def test_a_worker_that_was_cut_off_sends_nothing_until_it_knows_what_it_has(
    old_server: RedisServer,
) -> None:
    async with peers(old_server) as [a, b]:
        worker = Worker(b)
        await settle(a, b)
        await add_pages(a, hosts=32, count=5)
        async with worker.running():
            claim = await worker.taken()
            await b.hang()
            a.go_on()
            await until(lambda: not b.share.lease_time.is_sure, "its time is over")
            assert worker.supply.take() is None
            assert not worker.supply.may_send(claim)
            assert not worker.supply.may_send(None)
            await until(lambda: a.buckets == ALL, "another has all buckets")
            b.go_on()
            await until(lambda: worker.renewals.is_sure, "it is sure again")
            assert not worker.hand.is_ours(claim)
            assert not worker.supply.may_send(claim)
            assert worker.supply.may_send(None)
            worker.end(claim)
            await until(lambda: worker.finisher.late == 1, "its outcome came too late")
            await a.hang()
            await a.share.close()
            await a.frontier._leasing.leave()
            await worker.crawl()
        assert (await a.frontier.stats()).done == 160
