"""The frontier contract on every backend."""

import random
from collections.abc import Iterator
from functools import partial
from typing import ClassVar

import msgspec
import pytest

from servers import Kit, Servers, emptied
from weft.clock import Clock
from weft.config import FrontierConfig, SharedConfig
from weft.frontier import FrontierBackend, MemoryFrontier, RocksFrontier
from weft.frontier.redis import RedisFrontier
from weft.records import AddStatus, PageKind, Picker, SeenKind
from weft.testing.frontier_contract import FrontierContract, done, request, requests


class Contract(FrontierContract):
    """With what `clear` and `begin` say of less common cases."""

    async def test_clearing_a_kind_leaves_the_fetches_of_the_other(self) -> None:
        async with self.opened() as frontier:
            page = request("http://a/", kind=PageKind.NAV)
            for again in (page, request("http://a/", is_forced=True)):
                await frontier.add([again])
                await frontier.finish(done((await frontier.claim("me", 1)).claims))
            await frontier.clear(PageKind.NAV)
            [told] = await frontier.explain([page.fingerprint])
            assert [fetch.kind for fetch in told.fetches] == [PageKind.DATA]
            assert await frontier.add([page]) == [AddStatus.QUEUED]

    async def test_who_starts_over_forgets_more_than_the_frontier(self) -> None:
        forgotten: list[int] = []

        async def also_forget() -> None:
            forgotten.append((await frontier.stats()).added)

        async with self.opened() as frontier:
            await frontier.add(requests(2))
            begin = partial(frontier.begin, also_forget=also_forget)
            assert not await begin(is_fresh=False, is_rerun=False)
            assert forgotten == []
            assert await begin(is_fresh=True, is_rerun=False)
            assert forgotten == [0]


class TestMemoryFrontier(Contract):
    SURVIVES_REOPEN = False
    RECLAIMS_AT_OPEN = False

    def make(self, config: FrontierConfig, clock: Clock, rng: random.Random) -> FrontierBackend:
        return MemoryFrontier(config, clock, rng)


class TestRocksFrontier(Contract):
    @pytest.fixture(autouse=True)
    def _place(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        self.path = tmp_path_factory.mktemp("frontier")

    def make(self, config: FrontierConfig, clock: Clock, rng: random.Random) -> FrontierBackend:
        return RocksFrontier(self.path, config, clock, rng)


class RedisContract(Contract):
    RECLAIMS_AT_OPEN = False
    SETUP: ClassVar[str] = "redis"
    SHAPE: ClassVar[SharedConfig] = SharedConfig(buckets=1)

    @pytest.fixture(autouse=True)
    def _place(self, servers: Servers) -> Iterator[None]:
        with emptied(servers.get(self.SETUP)) as kit:
            self.kit: Kit = kit
            yield

    def make(self, config: FrontierConfig, clock: Clock, rng: random.Random) -> FrontierBackend:
        shape = msgspec.structs.replace(self.SHAPE, host_key=config.host_key)
        shaped = msgspec.structs.replace(config, shared=shape)
        return RedisFrontier(self.kit.url, "job", shaped, clock)


class TestRedisFrontier(RedisContract):
    pass


class TestRedisFrontierWithManyBuckets(RedisContract):
    HAS_ONE_LINE = False
    SHAPE = SharedConfig(buckets=7)


class TestRedisFrontierWithBloomFilter(RedisContract):
    SHAPE = SharedConfig(buckets=1, seen=SeenKind.BLOOM, expected_urls=10_000, bloom_error=1e-6)


class TestRedisFrontierWithPicker(RedisContract):
    """Buckets that are full at once: hosts move, and most requests are parked."""

    HAS_ONE_LINE = False
    SHAPE = SharedConfig(buckets=3, picker=Picker.ADVANCED, bucket_limit=100_000)


class TestValkeyFrontier(RedisContract):
    SETUP = "valkey"
    HAS_ONE_LINE = False
    SHAPE = SharedConfig(buckets=16)


class TestClusterFrontier(RedisContract):
    SETUP = "cluster"
    HAS_ONE_LINE = False
    SHAPE = SharedConfig(buckets=16)


@pytest.mark.long
class TestSentinelFrontier(RedisContract):
    SETUP = "sentinel"
    HAS_ONE_LINE = False
    SHAPE = SharedConfig(buckets=16)
