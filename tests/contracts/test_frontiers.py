"""The frontier contract on every backend."""

import random
from collections.abc import Iterator
from functools import partial
from typing import ClassVar

import msgspec
import pytest

from launchers.redis import RedisServer
from servers import Kit, Servers, emptied
from weft.clock import Clock
from weft.config import FrontierConfig, SharedConfig
from weft.frontier import FrontierBackend, MemoryFrontier, RocksFrontier
from weft.frontier.redis import RedisFrontier
from weft.frontier.redis.claiming import POLL_MS
from weft.records import AddStatus, PageKind, Picker, SeenKind
from weft.testing.frontier_contract import FrontierContract, done, request, requests
from weft.testing.frontier_contract.duepages import fetch as wait_for_pages
from weft.testing.frontier_contract.making import HOUR_MS, MINUTE_MS, urls


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

    async def test_what_others_add_is_found_though_the_next_page_is_due_late(self) -> None:
        async with self.opened() as frontier, self.opened() as other:
            await wait_for_pages(frontier, requests(1), HOUR_MS)
            assert (await frontier.claim("me", 9)).claims == []
            assert (await other.add([request("http://a/new")])) == [AddStatus.QUEUED]
            self.clock.advance(POLL_MS)
            assert urls((await frontier.claim("me", 9)).claims) == ["http://a/new"]

    async def test_what_others_finish_comes_back_in_time(self) -> None:
        async with self.opened() as frontier, self.opened() as other:
            await wait_for_pages(frontier, requests(1), HOUR_MS)
            await wait_for_pages(other, requests(1, "b"), MINUTE_MS)
            await frontier.claim("me", 9)
            self.clock.advance(MINUTE_MS)
            assert urls((await frontier.claim("me", 9)).claims) == ["http://b/0"]


class TestRedisFrontier(RedisContract):
    async def test_an_older_weft_is_kept_from_a_job_in_which_pages_wait(self) -> None:
        """It would let them wait for ever."""

        def stored_format() -> str:
            assert isinstance(self.kit, RedisServer)
            return str(self.kit.ask("HGET", "weft:{job}:job", "format"))

        async with self.opened() as frontier:
            for forget in (frontier.clear, lambda: frontier.begin(is_fresh=True, is_rerun=False)):
                await wait_for_pages(frontier, requests(1), None)
                assert stored_format() == "2"
                await wait_for_pages(frontier, requests(1, "b"), HOUR_MS)
                assert stored_format() == "4"
                await forget()
        async with self.opened() as frontier:
            await frontier.add(requests(1))


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
