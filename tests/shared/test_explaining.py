"""What is told of a URL is found wherever it is: in queues of any order and length, in claims of
other hosts, and in logs that were put together."""

from collections.abc import Sequence
from typing import Any

import pytest

from launchers.redis import RedisServer
from weft.config import FrontierConfig, HostLimits, SharedConfig
from weft.frontier.redis import RedisFrontier
from weft.frontier.redis.history import merge_stories
from weft.frontier.redis.stories import CHUNKS
from weft.records import Ending, Order, PackedRequest, PageKind
from weft.testing.frontier_contract import done, request, requests

BUCKETS = 4


def make(server: RedisServer, buckets: int = 1, **config: Any) -> RedisFrontier:
    limits = HostLimits(concurrency=1_000_000)
    shape = SharedConfig(buckets=buckets)
    return RedisFrontier(server.url, "job", FrontierConfig(limits=limits, shared=shape, **config))


async def fetch_one_by_one(frontier: RedisFrontier, pages: Sequence[PackedRequest]) -> None:
    await frontier.add(pages)
    for _ in pages:
        await frontier.finish(done((await frontier.claim("me", 1)).claims))


async def test_what_waits_in_random_order_is_found(redis_server: RedisServer) -> None:
    async with make(redis_server, order=Order.RANDOM) as frontier:
        added = requests(5)
        await frontier.add(added)
        told = await frontier.explain([each.fingerprint for each in added], "a")
        assert [t.url for t in told] == [each.url for each in added]
        assert {t.queued_kind for t in told} == {PageKind.DATA}
        [unknown] = await frontier.explain([7], "a")
        assert (unknown.url, unknown.queued_kind) == ("", None)


async def test_what_waits_far_back_in_a_long_queue_is_found(redis_server: RedisServer) -> None:
    async with make(redis_server) as frontier:
        added = requests(2_001)
        await frontier.add(added)
        for number in (0, 999, 1_000, 2_000):
            [told] = await frontier.explain([added[number].fingerprint], "a")
            assert (told.url, told.queued_kind) == (added[number].url, PageKind.DATA)


@pytest.mark.parametrize("host", ["a", "b", "c", "d", "e"])
async def test_the_page_that_a_link_was_found_on_may_still_be_claimed(
    redis_server: RedisServer, host: str
) -> None:
    async with make(redis_server, BUCKETS) as frontier:
        home = request("http://a/")
        page = request(f"http://{host}/page", found_on=home.fingerprint)
        await frontier.add([home, request("http://a/other"), request("http://f/")])
        await frontier.claim("me", 100)
        await frontier.add([page])
        [told] = await frontier.explain([page.fingerprint], host)
        assert told.found_on_url == "http://a/"


async def test_a_page_that_was_found_on_something_unknown_is_explained_without_it(
    redis_server: RedisServer,
) -> None:
    async with make(redis_server, BUCKETS) as frontier:
        page = request("http://a/page", found_on=7)
        await frontier.add([page, request("http://b/")])
        assert len((await frontier.claim("me", 100)).claims) == 2
        [told] = await frontier.explain([page.fingerprint], "a")
        assert (told.url, told.found_on, told.found_on_url) == (page.url, 7, "")


async def test_stories_that_were_put_together_are_still_told(redis_server: RedisServer) -> None:
    pages = requests(CHUNKS + 2)
    async with make(redis_server) as frontier:
        await fetch_one_by_one(frontier, pages)
        [bucket] = frontier._buckets.layout.buckets
        assert redis_server.ask("LLEN", f"{bucket.prefix}history:data") == 1
        assert redis_server.ask("LLEN", f"{bucket.prefix}stories:data") == 2
        told = await frontier.explain([page.fingerprint for page in pages], "a")
    assert [t.url for t in told] == [page.url for page in pages]
    assert [[fetch.ending for fetch in t.fetches] for t in told] == [[Ending.DONE]] * len(pages)


async def test_who_comes_second_puts_no_stories_together(redis_server: RedisServer) -> None:
    async with make(redis_server) as frontier:
        await fetch_one_by_one(frontier, requests(1))
        [bucket] = frontier._buckets.layout.buckets
        # The first has left none of the other kind.
        await merge_stories(frontier._client, bucket, "nav", CHUNKS)
        assert redis_server.ask("EXISTS", f"{bucket.prefix}history:nav") == 0
