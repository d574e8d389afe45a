"""Several workers begin, join, clear: one job."""

import asyncio
from itertools import product
from typing import Any

import pytest

from launchers.redis import RedisServer
from servers import Kit, all_keys
from weft.config import FrontierConfig, HostLimits, SharedConfig
from weft.errors import StoreError, StoreFormatError, StoreMissingError
from weft.frontier.redis import RedisFrontier, list_jobs
from weft.records import AddStatus, HostKey, Order, PageKind, Picker, SeenKind
from weft.redis.jobs import BEGIN, Begin
from weft.testing import until
from weft.testing.frontier_contract import done, request, requests


def make(kit: Kit, job: str = "job", **config: Any) -> RedisFrontier:
    config.setdefault("limits", HostLimits(concurrency=1_000_000))
    return RedisFrontier(kit.url, job, FrontierConfig(**config))


async def test_of_many_that_begin_again_one_forgets(redis_server: RedisServer) -> None:
    async with make(redis_server) as frontier:
        await frontier.add(requests(50))
        await frontier.finish(done((await frontier.claim("me", 50)).claims))
        await frontier.mark_finished()

    async def start(number: int) -> tuple[bool, list[AddStatus]]:
        async with make(redis_server) as frontier:
            is_over = await frontier.begin(is_fresh=False, is_rerun=True)
            return is_over, await frontier.add(requests(10))

    answers = await asyncio.gather(*(start(number) for number in range(8)))
    assert [is_over for is_over, _ in answers].count(True) == 1
    # Each start request was injected once, by whoever came first.
    queued = [statuses.count(AddStatus.QUEUED) for _, statuses in answers]
    assert sum(queued) == 10


async def test_one_that_comes_while_another_forgets_does_not_forget_again(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It opens the job in its new run, but what it reads may be about the one before."""
    async with make(redis_server) as frontier:
        await frontier.add(requests(5))
        await frontier.finish(done((await frontier.claim("me", 5)).claims))
    async with make(redis_server) as first:
        clear_all = first._clearing.clear_all
        late: list[asyncio.Task[bool]] = []

        async def begin_late() -> bool:
            async with make(redis_server) as second:
                return await second.begin(is_fresh=False, is_rerun=True)

        async def clear_slowly(*, is_long: bool = False) -> None:
            late.append(asyncio.ensure_future(begin_late()))
            await until_waiting(redis_server)
            await clear_all(is_long=is_long)

        monkeypatch.setattr(first._clearing, "clear_all", clear_slowly)
        assert await first.begin(is_fresh=False, is_rerun=True)
        await first.add(requests(1))
        assert [await each for each in late] == [False]
        assert (await first.stats()).queued == 1


async def until_waiting(server: RedisServer) -> None:
    """Until another client has called the script of `begin`: the first is the one that clears."""
    with server.client() as client:

        def calls() -> int:
            return int(client.info("commandstats")["cmdstat_evalsha"]["calls"])

        before = calls()
        await until(lambda: calls() >= before + 2, "another begins")


async def test_who_dies_while_it_forgets_is_followed_by_another(redis_server: RedisServer) -> None:
    async with make(redis_server) as frontier:
        await frontier.add(requests(5))
        begin = Begin(
            now_ms=0,
            run="dead",
            stats_run="",
            is_fresh=True,
            is_rerun=False,
            is_all_done=False,
            is_served=False,
            added=5,
            patience_ms=300,
        )
        await frontier._client.run([BEGIN.call("weft:{job}:", b"\x90", begin)])
    async with make(redis_server) as frontier:
        assert await frontier.begin(is_fresh=False, is_rerun=False)
        assert await frontier.add(requests(5)) == [AddStatus.QUEUED] * 5


async def test_a_worker_notices_that_the_job_was_started_over(redis_server: RedisServer) -> None:
    async with make(redis_server) as old, make(redis_server) as new:
        await old.begin(is_fresh=False, is_rerun=False)
        await old.add(requests(5))
        claims = (await old.claim("old", 2)).claims
        assert await new.begin(is_fresh=True, is_rerun=False)
        await new.add(requests(5))
        # What it had claimed is stale, and what it claims it cannot keep.
        assert await old.finish(done(claims)) == [False, False]
        with pytest.raises(StoreError, match="started over by another"):
            await old.claim("old", 2)


async def test_tokens_are_not_used_again_after_clearing(redis_server: RedisServer) -> None:
    async with make(redis_server) as frontier:
        await frontier.add(requests(5))
        old = (await frontier.claim("me", 5)).claims
        await frontier.clear()
        await frontier.add(requests(5))
        await frontier.claim("me", 5)
        assert await frontier.finish(done(old)) == [False] * 5


async def test_what_is_learned_after_clearing_is_known(redis_server: RedisServer) -> None:
    async with make(redis_server) as frontier:
        await frontier.add(requests(2))
        await frontier.clear()
        await frontier.learn([requests(1)[0].fingerprint])
        async with make(redis_server) as other:
            assert await other.add(requests(2)) == [AddStatus.KNOWN, AddStatus.QUEUED]


async def test_who_joins_takes_the_shape_that_the_job_has(redis_server: RedisServer) -> None:
    async with make(redis_server, shared=SharedConfig(buckets=3, virtual_nodes=8)) as one:
        await one.add(requests(20))
        async with make(redis_server, shared=SharedConfig(buckets=50)) as other:
            assert (other.buckets, other.virtual_nodes) == (3, 8)
            assert await other.add(requests(20)) == [AddStatus.KNOWN] * 20
            # It may choose another when it starts over.
            assert await other.begin(is_fresh=True, is_rerun=False)
            assert await other.add(requests(20)) == [AddStatus.QUEUED] * 20
    assert any(":b49}:" in key for key in all_keys(redis_server)) or all_keys(redis_server)


async def test_jobs_in_one_store_do_not_see_each_other(redis_server: RedisServer) -> None:
    async with make(redis_server, "one") as one, make(redis_server, "two") as two:
        await one.add(requests(3))
        assert (await two.stats()).added == 0
        assert await two.add(requests(3)) == [AddStatus.QUEUED] * 3
        assert await list_jobs(redis_server.url) == ["one", "two"]
        await one.clear()
        assert await list_jobs(redis_server.url) == ["two"]
        assert (await two.stats()).queued == 3


async def test_a_job_that_is_not_there_is_told(redis_server: RedisServer) -> None:
    frontier = RedisFrontier(redis_server.url, "nowhere", is_read_only=True)
    with pytest.raises(StoreMissingError, match="no job nowhere in redis://"):
        await frontier.__aenter__()


async def test_a_job_of_a_newer_weft_is_not_touched(redis_server: RedisServer) -> None:
    async with make(redis_server) as frontier:
        await frontier._client.run([("HSET", "weft:{job}:job", "format", "99")])
    with pytest.raises(StoreFormatError, match="has format 99"):
        await make(redis_server).__aenter__()


async def test_a_weft_that_knows_no_other_host_keys_is_kept_from_a_job_that_has_them(
    redis_server: RedisServer,
) -> None:
    """By a format that it does not know. A job by host names stays one that it can join."""

    async def format_of(job: str) -> bytes:
        async with make(redis_server, job) as frontier:
            [name] = await frontier._client.run([("HGET", f"weft:{{{job}}}:job", "format")])
            return bytes(name)

    async with make(redis_server, "plain") as frontier:
        await frontier.begin(is_fresh=False, is_rerun=False)
    assert await format_of("plain") == b"2"
    by_domain = SharedConfig(host_key=HostKey.DOMAIN)
    async with make(redis_server, "domains", shared=by_domain) as frontier:
        await frontier.begin(is_fresh=False, is_rerun=False)
    assert await format_of("domains") == b"3"
    async with make(redis_server, "domains") as frontier:
        assert str(frontier.host_key) == "domain"
        await frontier.begin(is_fresh=True, is_rerun=False)
        assert str(frontier.host_key) == "host"
    assert await format_of("domains") == b"2"


#: In these all orders come up, and all pairs of the others.
QUICK = {
    (Order.BFS, SeenKind.EXACT, Picker.DEFAULT),
    (Order.DFS, SeenKind.BLOOM, Picker.ADVANCED),
    (Order.PRIORITY, SeenKind.EXACT, Picker.ADVANCED),
    (Order.RANDOM, SeenKind.BLOOM, Picker.DEFAULT),
}


@pytest.mark.parametrize(
    ("order", "seen", "picker"),
    [
        pytest.param(*each, marks=() if each in QUICK else pytest.mark.long)
        for each in product(Order, SeenKind, Picker)
    ],
)
async def test_clearing_all_leaves_no_key_behind(
    setup: Kit, order: Order, seen: SeenKind, picker: Picker
) -> None:
    shape = SharedConfig(buckets=2, bucket_limit=20, seen=seen, picker=picker)
    async with make(setup, order=order, shared=shape) as frontier:
        await frontier.begin(is_fresh=False, is_rerun=True)
        for host in "abcdef":
            await frontier.add(requests(1_100, host))
        await frontier.add(requests(30, "g", kind=PageKind.NAV, priority=3))
        await frontier.add([request("http://a/deep", dropped_by="depth")])
        claims = (await frontier.claim("me", 40)).claims
        await frontier.finish(done(claims[:10], status=404))
        await frontier.release([claim.token for claim in claims[10:20]])
        await frontier.mark_finished()
        assert len(all_keys(setup)) > 20
        await frontier.clear()
    assert all_keys(setup) == []
