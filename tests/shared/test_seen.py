"""What a shared frontier remembers of the URLs that it has seen, and what that takes."""

import random
from typing import Any

import pytest

from launchers.redis import RedisServer
from weft.config import FrontierConfig, HostLimits, SharedConfig
from weft.frontier.redis import RedisFrontier
from weft.frontier.redis.layout import RedisLayout
from weft.frontier.redis.scripts import ADD, Add
from weft.frontier.redis.seen import set_number
from weft.records import AddStatus, PackedRequest, PageKind, SeenKind
from weft.redis.client import Client
from weft.testing.frontier_contract import done


def some_numbers(seed: int, count: int) -> list[int]:
    rng = random.Random(seed)
    return [rng.getrandbits(63) for _ in range(count)]


def packed(number: int, host: str = "a") -> PackedRequest:
    return PackedRequest(number, f"http://{host}/{number}", host)


def make(server: RedisServer, **shape: Any) -> RedisFrontier:
    config = FrontierConfig(
        limits=HostLimits(concurrency=1_000_000), shared=SharedConfig(buckets=1, **shape)
    )
    return RedisFrontier(server.url, "job", config)


@pytest.mark.parametrize("count", [1, 199, 201, 1_000, 30_000])
async def test_exact_sets_know_each_url_however_many_there_are(
    redis_server: RedisServer, count: int
) -> None:
    async with make(redis_server) as frontier:
        numbers = some_numbers(count, count)
        added = [packed(number) for number in numbers]
        assert await frontier.add(added) == [AddStatus.QUEUED] * count
        assert await frontier.add(added[::7]) == [AddStatus.KNOWN] * len(added[::7])
        report = await frontier.seen_report()
        assert (report.kind, report.urls) == ("exact", count)


async def test_exact_sets_stay_small_arrays(redis_server: RedisServer) -> None:
    async with make(redis_server) as frontier:
        numbers = some_numbers(1, 40_000)
        await frontier.add([packed(number) for number in numbers])
    with redis_server.client() as client:
        keys = [str(key) for key in client.scan_iter("*:seen:data:*", count=1000)]
        assert len(keys) >= 40_000 / 200
        assert {client.object("encoding", key) for key in keys} == {"intset"}
        taken = sum(client.memory_usage(key, samples=0) or 0 for key in keys)
    assert taken / 40_000 <= 10.0


async def test_the_set_of_a_fingerprint_is_found_from_outside_too(
    redis_server: RedisServer,
) -> None:
    async with make(redis_server) as frontier:
        await frontier.add([packed(number) for number in some_numbers(2, 5_000)])
    with redis_server.client() as client:
        sets = int(str(client.hget("weft:{job:b0}:meta", "sets_data")))
        assert sets > 16
        for number in range(sets):
            members = client.smembers(f"weft:{{job:b0}}:seen:data:{number}")
            assert {set_number(int(str(member)), sets) for member in members} <= {number}


async def test_a_bloom_filter_drops_new_urls_no_more_often_than_allowed(
    redis_server: RedisServer,
) -> None:
    shape: dict[str, Any] = {"expected_urls": 5_000, "bloom_error": 0.01}
    async with make(redis_server, seen=SeenKind.BLOOM, **shape) as frontier:
        numbers = some_numbers(3, 15_000)
        statuses = await frontier.add([packed(number) for number in numbers])
        dropped = statuses.count(AddStatus.KNOWN)
        assert dropped / 15_000 <= 0.01
        # What is known stays known, in all layers.
        assert await frontier.add([packed(number) for number in numbers[::50]]) == (
            [AddStatus.KNOWN] * 300
        )
        report = await frontier.seen_report()
        assert report.kind == "bloom"
        assert report.parts == 2
        assert report.fill is not None
        assert report.error is not None
        assert 0.3 < report.fill < 0.6
        assert report.error <= 0.01


@pytest.mark.long
@pytest.mark.timeout(900)  # three million URLs
async def test_a_bloom_filter_for_a_million_urls_keeps_its_promise(
    redis_server: RedisServer,
) -> None:
    """n = 1,000,000 and p = 0.001: at n and at 3n at most 0.1 % of new URLs are taken for known,
    and the first layer takes at most 2 MB."""
    n = 1_000_000

    shape = SharedConfig(buckets=1, seen=SeenKind.BLOOM, expected_urls=n, bloom_error=0.001)
    layout = RedisLayout("job", FrontierConfig(), shape)
    [bucket] = layout.buckets
    # The script alone, with dropped packed requests: what is queued is not the point here.
    async with Client(redis_server.url) as client:
        client.know({ADD.sha: ADD.source})
        for goal in (n, 3 * n):
            await insert(client, layout, range(0 if goal == n else n, goal))
            assert await false_positives(client, layout) <= 0.001
            if goal == n:
                [taken] = await client.run(
                    [("MEMORY", "USAGE", f"{bucket.prefix}bloom:data:0", "SAMPLES", 0)]
                )
                assert taken <= 2_000_000


BATCH = 5_000


async def insert(client: Client, layout: RedisLayout, numbers: range) -> None:
    [bucket] = layout.buckets
    for first in range(numbers.start, numbers.stop, BATCH):
        await client.run([call(layout, range(first, first + BATCH))])
        await client.run([("DEL", f"{bucket.prefix}queue:data:a", f"{bucket.prefix}spill:data:a")])


async def false_positives(client: Client, layout: RedisLayout) -> float:
    """Asked without changing anything: as requests that are dropped if they are not known."""
    sample = 100_000
    first = 10**12
    known = 0
    for start in range(first, first + sample, BATCH):
        [raw] = await client.run([call(layout, range(start, start + BATCH), flag=2)])
        known += ADD.read(raw).letters.count("K")
    return known / sample


def call(layout: RedisLayout, numbers: range, flag: int = 0) -> Any:
    [bucket] = layout.buckets
    listed: list[object] = []
    for number in numbers:
        listed += (0, str(number), *layout.hashes(number), flag)
    add = Add(0, bucket.prefix, [("a", 1, "0")], listed)
    return ADD.call(bucket.prefix, bucket.config, add, [b"x"] * len(numbers))


async def test_clearing_a_kind_forgets_its_filter_only(redis_server: RedisServer) -> None:
    async with make(redis_server, seen=SeenKind.BLOOM, expected_urls=1_000) as frontier:
        await frontier.add([packed(1), packed(2)])
        [claim] = (await frontier.claim("me", 1)).claims
        await frontier.clear(PageKind.DATA)
        statuses = await frontier.add([packed(1), packed(2)])
        assert sorted(statuses) == [AddStatus.KNOWN, AddStatus.QUEUED]  # one is claimed
        assert await frontier.finish(done([claim])) == [True]
