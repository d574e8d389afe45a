"""A full bucket parks what comes: nothing is dropped, no host waits for another."""

from typing import Any

import pytest

from launchers.redis import RedisServer
from servers import all_keys
from weft.config import FrontierConfig, HostLimits, SharedConfig
from weft.frontier.redis import RedisFrontier
from weft.frontier.redis.layout import BLOCK_SIZE
from weft.frontier.redis.parking import Parking
from weft.records import AddStatus, Claims, Order, PageKind
from weft.testing.frontier_contract import done, request, requests


def make(server: RedisServer, limit: int, **config: Any) -> RedisFrontier:
    shape = SharedConfig(buckets=1, bucket_limit=limit)
    config.setdefault("limits", HostLimits(concurrency=1_000_000))
    return RedisFrontier(server.url, "job", FrontierConfig(shared=shape, **config))


async def drain(frontier: RedisFrontier, batch: int = 100) -> list[str]:
    """All URLs in the order in which they are claimed, each finished at once."""
    urls = []
    while (await frontier.stats()).pending:
        claims = (await frontier.claim("me", batch)).claims
        urls += [claim.request.url for claim in claims]
        await frontier.finish(done(claims))
    return urls


@pytest.mark.parametrize("count", [1, 10, 11, 25, 2_345])
async def test_what_does_not_fit_is_parked_and_comes_in_its_turn(
    redis_server: RedisServer, count: int
) -> None:
    async with make(redis_server, limit=10) as frontier:
        added = requests(count)
        assert await frontier.add(added) == [AddStatus.QUEUED] * count
        stats = await frontier.stats()
        assert (stats.queued, stats.parked) == (min(count, 10), max(0, count - 10))
        assert await frontier.add(added) == [AddStatus.KNOWN] * count
        assert await drain(frontier) == [r.url for r in added]
        assert (await frontier.stats()).parked == 0


async def test_parked_requests_come_back_as_they_were(redis_server: RedisServer) -> None:
    async with make(redis_server, limit=1) as frontier:
        added = [
            request(
                f"https://a/{i}?q=ü",
                payload=bytes(range(i % 256)),
                found_on=i,
                url_fingerprint=i % 3,
                fingerprint=i + 1,
            )
            for i in range(1_500)
        ]
        await frontier.add(added)
        got = []
        while (await frontier.stats()).pending:
            claims = (await frontier.claim("me", 500)).claims
            got += [claim.request for claim in claims]
            await frontier.finish(done(claims))
        assert got == added


async def test_data_is_parked_apart_from_nav_and_comes_first(redis_server: RedisServer) -> None:
    async with make(redis_server, limit=10) as frontier:
        nav = requests(1_200, kind=PageKind.NAV)
        data = [request(f"http://a/article/{i}") for i in range(1_200)]
        await frontier.add(nav + data)
        urls = await drain(frontier)
        assert sorted(urls) == sorted(r.url for r in nav + data)
        # All of them but what had a place in the queue before.
        assert {"article" in url for url in urls[20:1_200]} == {True}


async def test_a_priority_holds_among_what_is_unparked_together(redis_server: RedisServer) -> None:
    async with make(redis_server, limit=2, order=Order.PRIORITY) as frontier:
        added = [request(f"http://a/{i}", priority=i % 5) for i in range(102)]
        await frontier.add(added)
        urls = await drain(frontier, batch=1_000)
        priorities = [added[int(url.rpartition("/")[2])].priority for url in urls[2:]]
        assert priorities == sorted(priorities, reverse=True)


async def test_a_host_that_fills_the_bucket_does_not_hold_up_others(
    redis_server: RedisServer,
) -> None:
    slow = {"slow": HostLimits(delay_ms=3_600_000)}
    async with make(redis_server, limit=2_000, limits_by_host=slow) as frontier:
        await frontier.add(requests(5_000, "slow"))
        assert (await frontier.stats()).queued == 2_000
        await frontier.add(requests(3_000, "quick"))
        urls = []
        while claims := (await frontier.claim("me", 500)).claims:
            urls += [claim.request.url for claim in claims]
            await frontier.finish(done(claims))
        assert sum("quick" in url for url in urls) == 3_000


async def test_a_crawl_is_not_finished_while_something_is_parked(redis_server: RedisServer) -> None:
    async with make(redis_server, limit=5) as frontier:
        await frontier.add(requests(50))
        claims = (await frontier.claim("me", 5)).claims
        await frontier.finish(done(claims))
        assert (await frontier.stats()).pending == 45


async def test_someone_else_unparks_what_the_first_left(redis_server: RedisServer) -> None:
    async with make(redis_server, limit=5) as one, make(redis_server, limit=5) as other:
        await one.add(requests(3_000))
        urls = []
        for frontier, owner in ((one, "a"), (other, "b")) * 3_000:
            claims = (await frontier.claim(owner, 50)).claims
            urls += [claim.request.url for claim in claims]
            await frontier.finish(done(claims))
            if not (await one.stats()).pending:
                break
        assert sorted(urls) == sorted(r.url for r in requests(3_000))


async def test_parked_requests_are_explained_and_cleared(redis_server: RedisServer) -> None:
    async with make(redis_server, limit=5) as frontier:
        added = requests(2_500)
        await frontier.add(added)
        for number, is_parked in ((1, False), (500, True), (2_400, True)):
            [told] = await frontier.explain([added[number].fingerprint], "a")
            assert (told.url, told.is_parked) == (added[number].url, is_parked)
        await frontier.clear(PageKind.DATA)
        assert (await frontier.stats()).pending == 0
        assert await frontier.add(added) == [AddStatus.QUEUED] * 2_500
        await frontier.clear()
    assert all_keys(redis_server) == []


async def test_who_comes_second_neither_parks_nor_unparks(redis_server: RedisServer) -> None:
    async with make(redis_server, limit=5) as frontier:
        await frontier.add(requests(5 + BLOCK_SIZE))
        [bucket] = frontier._buckets.layout.buckets
        parking = Parking(frontier._client, frontier._config.order)
        before = redis_server.ask("LLEN", f"{bucket.prefix}blocks:data:a")
        assert before == 1
        await parking.compress(bucket, "a", PageKind.DATA)
        assert redis_server.ask("LLEN", f"{bucket.prefix}blocks:data:a") == before
        assert not await parking.unpark(bucket, "b", now_ms=0)
        assert (await frontier.stats()).parked == BLOCK_SIZE


async def test_a_host_that_another_has_unparked_meanwhile_changes_nothing(
    redis_server: RedisServer,
) -> None:
    async with make(redis_server, limit=5) as frontier:
        await frontier.add(requests(1))
        [bucket] = frontier._buckets.layout.buckets
        redis_server.ask("SADD", f"{bucket.prefix}hungry", "a")
        claims = await frontier.claim("me", 5)
        assert (len(claims.claims), claims.next_in_ms) == (1, None)
        assert await frontier.claim("me", 5) == Claims([], None)
