"""Files that items of several workers name are downloaded by one of them."""

from launchers.redis import RedisServer
from servers import Kit
from weft.cluster.media import MediaClaims, MediaState, Taken
from weft.config import FrontierConfig
from weft.frontier.redis import RedisFrontier
from weft.redis.client import Client
from weft.testing.waiting import until

HOUR_MS = 3_600_000
OURS, WAIT = Taken(MediaState.OURS), Taken(MediaState.WAIT)


def claims_of(client: Client, worker: int, claim_ms: int = HOUR_MS) -> MediaClaims:
    return MediaClaims(client, "job", f"host:{worker}:ab", claim_ms)


async def ours_in_time(claims: MediaClaims) -> None:
    async def is_ours() -> bool:
        return await claims.take("a") == OURS

    await until(is_ours, "another has let it go")


async def test_the_first_to_ask_downloads_and_the_others_get_its_result(setup: Kit) -> None:
    async with Client(setup.url) as client:
        one, two = claims_of(client, 1), claims_of(client, 2)
        assert await one.take("a") == OURS
        assert await two.take("a") == WAIT
        assert await two.take("b") == OURS
        assert await one.take("a") == OURS  # renewed
        result = bytes(range(256))
        await one.finish("a", result, HOUR_MS)
        assert await two.take("a") == Taken(MediaState.DONE, result)
        assert await one.take("a") == Taken(MediaState.DONE, result)
        other_job = MediaClaims(client, "other", "host:1:ab", HOUR_MS)
        assert await other_job.take("a") == OURS


async def test_a_download_that_failed_is_for_the_next(redis_server: RedisServer) -> None:
    async with Client(redis_server.url) as client:
        one, two = claims_of(client, 1), claims_of(client, 2)
        assert await one.take("a") == OURS
        await two.release("a")  # not its own
        assert await two.take("a") == WAIT
        await one.release("a")
        assert await two.take("a") == OURS
        await two.finish("a", b"result", HOUR_MS)
        await one.release("a")  # too late
        assert (await one.take("a")).result == b"result"


async def test_claims_and_results_end(redis_server: RedisServer) -> None:
    async with Client(redis_server.url) as client:
        one, two = claims_of(client, 1, claim_ms=1), claims_of(client, 2)
        assert await one.take("a") == OURS
        await ours_in_time(two)
        await two.finish("a", b"result", 1)
        await ours_in_time(one)


async def test_results_are_forgotten_with_the_crawl(redis_server: RedisServer) -> None:
    async with Client(redis_server.url) as client:
        claims = claims_of(client, 1)
        async with RedisFrontier(redis_server.url, "job", FrontierConfig()) as frontier:
            for is_fresh in (True, False):
                await frontier.begin(is_fresh=False, is_rerun=False)
                await claims.finish("a", b"result", HOUR_MS)
                await frontier.begin(is_fresh=False, is_rerun=False)  # it goes on
                assert (await claims.take("a")).state is MediaState.DONE
                if is_fresh:
                    await frontier.begin(is_fresh=True, is_rerun=False)
                else:
                    await frontier.clear()
                assert await claims.take("a") == OURS
