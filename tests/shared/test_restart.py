"""A store that was restarted, or that went back to an earlier state: no claim stays behind in the
name of a worker that does not know of it, and no token is used twice."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from launchers.redis import RedisServer
from weft.config import FrontierConfig, HostLimits, SharedConfig
from weft.frontier.base import Hold
from weft.frontier.redis import RedisFrontier
from weft.records import Claim
from weft.testing.frontier_contract import done, requests, tokens

BUCKETS = 4
LEASE_MS = 10_000


class Worker:
    """One of several on a frontier, each with a client of its own."""

    def __init__(self, frontier: RedisFrontier, name: str) -> None:
        self.frontier = frontier
        self.name = name

    async def hold(self, *buckets: int) -> Hold:
        return await self.frontier.hold(
            self.name, buckets, lease_ms=LEASE_MS, may_evict=False, sharers=1
        )

    async def claim(self, limit: int = 100) -> list[Claim]:
        return (await self.frontier.claim(self.name, limit)).claims

    async def renew(self, claims: Sequence[Claim] = ()) -> list[bool]:
        return await self.frontier.renew(self.name, tokens(claims))


@asynccontextmanager
async def workers(
    server: RedisServer, names: str = "one", limits: HostLimits | None = None
) -> AsyncIterator[list[Worker]]:
    """They have leases of all buckets together."""
    config = FrontierConfig(
        limits=limits or HostLimits(concurrency=100), shared=SharedConfig(buckets=BUCKETS)
    )
    async with AsyncExitStack() as stack:
        yield [
            Worker(await stack.enter_async_context(RedisFrontier(server.url, "job", config)), name)
            for name in names.split()
        ]


@pytest.fixture
def server() -> Iterator[RedisServer]:
    """One that may be restarted; it keeps what it has acknowledged."""
    with RedisServer(durable=True) as server:
        yield server


@pytest.fixture
def forgetful() -> Iterator[RedisServer]:
    """One that goes back to its last SAVE when it is restarted."""
    with RedisServer(appendonly=False) as server:
        yield server


def restart(server: RedisServer) -> None:
    server.kill()
    server.start()


@pytest.mark.parametrize("delay_ms", [0, 60_000])
@pytest.mark.parametrize("has_lease", [True, False])
async def test_a_claim_that_was_not_finished_because_of_a_restart_is_given_back(
    server: RedisServer, has_lease: bool, delay_ms: int
) -> None:
    limits = HostLimits(delay_ms=delay_ms, concurrency=1)
    async with workers(server, limits=limits) as [one]:
        if has_lease:
            await one.hold(*range(BUCKETS))
        await one.frontier.add(requests(3))
        [claim] = await one.claim()
        restart(server)
        assert await one.frontier.finish(done([claim])) == [False]
        assert await one.renew() == []
        stats = await one.frontier.stats()
        assert (stats.claimed, stats.queued, stats.reclaimed) == (0, 3, 1)
        again = await one.frontier.claim(one.name, 1)
        if delay_ms:  # it was sent, as far as anyone knows
            assert again.claims == []
            assert 0 < (again.next_in_ms or 0) <= delay_ms
        else:
            assert again.claims[0].request == claim.request


async def test_what_its_worker_knows_of_survives_a_restart(server: RedisServer) -> None:
    async with workers(server, "one two") as [one, two]:
        await one.hold(0, 1)
        await two.hold(2, 3)
        for number in range(20):
            await one.frontier.add(requests(4, f"host-{number}"))
        mine, theirs = await one.claim(), await two.claim()
        restart(server)
        assert all(await one.renew(mine))
        assert all(await two.renew(theirs))
        assert all(await one.frontier.finish(done(mine)))
        assert all(await two.frontier.finish(done(theirs)))


@pytest.mark.parametrize("has_lease", [True, False])
async def test_a_claim_that_comes_back_to_life_is_given_back(
    forgetful: RedisServer, has_lease: bool
) -> None:
    async with workers(forgetful) as [one]:
        if has_lease:
            await one.hold(*range(BUCKETS))
        await one.frontier.add(requests(10))
        early = await one.claim(4)
        forgetful.ask("SAVE")
        assert await one.frontier.finish(done(early[:3])) == [True] * 3
        late = await one.claim(2)
        restart(forgetful)
        # Of those that it knows of one is a claim; three have come back to life.
        assert await one.renew([early[3], *late]) == [True, False, False]
        stats = await one.frontier.stats()
        assert (stats.claimed, stats.queued, stats.done) == (1, 9, 0)


@pytest.mark.parametrize("has_lease", [True, False])
async def test_no_token_is_used_twice_after_the_store_went_back(
    forgetful: RedisServer, has_lease: bool
) -> None:
    async with workers(forgetful) as [one]:
        await one.frontier.add(requests(100))
        if has_lease:
            await one.hold(*range(BUCKETS))
        used = tokens(await one.claim(1))
        forgetful.ask("SAVE")
        for _ in range(3):
            if has_lease:
                await one.hold(*range(BUCKETS))
            for limit in (1, 2, 30):
                claims = await one.claim(limit)
                assert len(claims) == limit
                used += tokens(claims)
            restart(forgetful)
        assert len(used) == len(set(used))


async def test_no_lease_has_a_token_that_another_had(forgetful: RedisServer) -> None:
    async with workers(forgetful, "one two") as [one, two]:
        forgetful.ask("SAVE")
        await one.hold(0)
        first = _lease_token(one)
        restart(forgetful)
        await two.hold(0)
        assert _lease_token(two) > first


async def test_a_lease_that_comes_back_to_life_is_given_up(forgetful: RedisServer) -> None:
    async with workers(forgetful, "one two") as [one, two]:
        await one.frontier.add(requests(10))
        bucket = one.frontier._buckets.layout.bucket_of("a").number
        await one.hold(bucket)
        await two.hold()
        claims = await one.claim(5)
        forgetful.ask("SAVE")
        assert await one.frontier.finish(done(claims)) == [True] * 5
        await one.hold()
        assert (await two.hold(bucket)).buckets == [bucket]
        restart(forgetful)
        assert (await two.hold(bucket)).buckets == []  # the store says that `one` has it
        await one.frontier.stats()  # it notices that the store was restarted
        await one.hold()
        assert (await two.hold(bucket)).buckets == [bucket]
        assert len(await two.claim()) == 10


def _lease_token(worker: Worker) -> int:
    [token] = worker.frontier._leases.tokens.values()
    return token
