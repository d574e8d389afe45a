"""Where the job of a crawl lives, for a crew of workers."""

from launchers.redis import RedisServer
from weft.frontier import Hold, parse_store
from weft.frontier.redis import RedisFrontier
from weft.services.homes import open_home


async def hold_all(frontier: RedisFrontier) -> Hold:
    return await frontier.hold(
        "other", range(frontier.buckets), lease_ms=60_000, may_evict=False, sharers=1
    )


async def test_a_crew_that_joins_leaves_others_their_leases(redis_server: RedisServer) -> None:
    async with RedisFrontier(redis_server.url, "it") as other:
        await other.begin(is_fresh=False, is_rerun=False)
        await hold_all(other)
        with open_home(parse_store(redis_server.url), "it", has_crew=True) as home:
            assert home.url == redis_server.url
            kept = await hold_all(other)
    assert not kept.is_lost
    assert len(kept.buckets) == other.buckets
