"""A Redis that goes away, is full or read-only is waited for; nothing is lost."""

import asyncio
import logging
import math
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from launchers.redis import RedisSentinel, RedisServer
from weft.errors import ConfigError, StoreError
from weft.frontier.redis import RedisFrontier
from weft.records import AddStatus
from weft.redis.client import Client
from weft.testing.frontier_contract import done, requests


@pytest.fixture
def own_server() -> Iterator[RedisServer]:
    """One that may be killed; it keeps what it has acknowledged."""
    with RedisServer(durable=True) as server:
        yield server


def later(seconds: float, action: Any) -> threading.Thread:
    def act() -> None:
        time.sleep(seconds)
        action()

    thread = threading.Thread(target=act)
    thread.start()
    return thread


async def test_a_server_that_was_killed_is_waited_for(
    own_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        async with RedisFrontier(own_server.url, "job") as frontier:
            await frontier.add(requests(10))
            claims = (await frontier.claim("me", 3)).claims
            own_server.kill()
            back = later(1.0, own_server.start)
            assert await frontier.add(requests(11)) == [AddStatus.KNOWN] * 10 + [AddStatus.QUEUED]
            back.join()
            assert frontier.restarts == 1
            assert await frontier.finish(done(claims)) == [True] * 3
            stats = await frontier.stats()
            assert (stats.done, stats.queued, stats.claimed) == (3, 8, 0)
        assert frontier.restarts == 1
    assert "the crawl waits, nothing is lost" in caplog.text
    assert "is back after" in caplog.text


async def test_a_claim_is_not_finished_at_a_server_that_may_have_forgotten_what_it_brought(
    own_server: RedisServer,
) -> None:
    async with RedisFrontier(own_server.url, "job") as frontier:
        await frontier.add(requests(3))
        claims = (await frontier.claim("me", 3)).claims
        own_server.kill()
        back = later(0.5, own_server.start)
        assert await frontier.finish(done(claims)) == [False] * 3
        back.join()
        assert await frontier.renew("me", []) == []
        stats = await frontier.stats()
        assert (stats.done, stats.claimed, stats.queued) == (0, 0, 3)


async def test_nor_if_nobody_has_noticed_that_it_is_another(own_server: RedisServer) -> None:
    async with RedisFrontier(own_server.url, "job") as frontier:
        await frontier.add(requests(3))
        claims = (await frontier.claim("me", 3)).claims
        own_server.kill()
        own_server.start()
        # Another has taught the new one our scripts: it would do what it is told.
        async with RedisFrontier(own_server.url, "other") as other:
            await other.add(requests(1))
            await other.finish(done((await other.claim("you", 1)).claims))
        assert await frontier.finish(done(claims)) == [False] * 3
        assert await frontier.renew("me", []) == []
        stats = await frontier.stats()
        assert (stats.done, stats.claimed, stats.queued) == (0, 0, 3)


async def test_a_server_that_hangs_is_waited_for(own_server: RedisServer) -> None:
    async with Client(own_server.url, timeout_s=0.3) as client:
        own_server.stop()
        back = later(1.0, own_server.cont)
        assert await client.run([("PING",)]) == [True]
        back.join()
        assert client.restarts == 0


async def test_a_silent_reconnect_to_another_server_is_noticed(own_server: RedisServer) -> None:
    """Between two calls: no command has failed."""

    async with Client(own_server.url) as client:
        await client.run([("PING",)])
        own_server.kill()
        own_server.start()
        await asyncio.sleep(0.1)
        await client.run([("PING",)])
        assert client.restarts == 1


async def test_a_server_without_memory_holds_the_crawl(
    own_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        async with RedisFrontier(own_server.url, "job") as frontier:
            await frontier.add(requests(20))
            claims = (await frontier.claim("me", 5)).claims
            own_server.ask("CONFIG", "SET", "maxmemory", "1")
            # What frees memory goes on.
            assert await frontier.renew("me", [claim.token for claim in claims]) == [True] * 5
            assert await frontier.finish(done(claims[:1])) == [True]
            assert await frontier.release([claims[1].token]) == [True]
            back = later(1.0, lambda: own_server.ask("CONFIG", "SET", "maxmemory", "0"))
            started_s = time.monotonic()
            assert await frontier.add(requests(40)) == (
                [AddStatus.KNOWN] * 20 + [AddStatus.QUEUED] * 20
            )
            assert time.monotonic() - started_s > 0.5
            back.join()
            stats = await frontier.stats()
            assert (stats.added, stats.pending) == (40, 39)
    assert "is out of memory" in caplog.text


async def test_a_read_only_server_holds_the_crawl(
    own_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        async with RedisFrontier(own_server.url, "job") as frontier:
            await frontier.add(requests(5))
            own_server.ask("REPLICAOF", "127.0.0.1", 1)
            back = later(1.0, lambda: own_server.ask("REPLICAOF", "NO", "ONE"))
            assert await frontier.add(requests(6)) == [AddStatus.KNOWN] * 5 + [AddStatus.QUEUED]
            back.join()
    assert "is read-only" in caplog.text


async def test_patience_ends_with_a_clear_error(own_server: RedisServer) -> None:
    async with Client(own_server.url, patience_s=0.3) as client:
        own_server.kill()
        with pytest.raises(StoreError, match=r"does not answer .* nothing is lost"):
            await client.run([("PING",)])


@pytest.mark.parametrize(
    "url",
    ["redis://127.0.0.1:1/0", "unix:///nowhere/socket", "redis+sentinel://127.0.0.1:1/mymaster"],
)
async def test_a_server_that_is_not_there_is_told_at_once(url: str) -> None:
    started_s = time.monotonic()
    with pytest.raises(StoreError, match="does not answer"):
        await Client(url).__aenter__()
    assert time.monotonic() - started_s < 5


async def test_a_cluster_that_is_not_there_is_told_at_once() -> None:
    with pytest.raises(StoreError):
        await Client("redis+cluster://127.0.0.1:1").__aenter__()


async def test_a_wrong_password_is_told_at_once_and_not_shown(own_server: RedisServer) -> None:
    own_server.ask("CONFIG", "SET", "requirepass", "right")

    url = own_server.url.replace("://", "://:wrong@")
    with pytest.raises(StoreError, match="cannot be used") as caught:
        await Client(url).__aenter__()
    assert "wrong@" not in str(caught.value)
    async with Client(own_server.url.replace("://", "://:right@")) as client:
        assert await client.run([("PING",)]) == [True]


@pytest.mark.parametrize("url", ["redis://h:port/0", "redis+sentinel://h:1", "redis+cluster://"])
def test_what_is_no_address_is_told(url: str) -> None:
    with pytest.raises(ConfigError):
        Client(url)


async def test_a_failover_is_waited_for_and_counted() -> None:
    async def test(sentinel: RedisSentinel) -> None:
        async with RedisFrontier(sentinel.url, "job") as frontier:
            await frontier.add(requests(10))
            sentinel.wait_for_replica()
            over = later(0.0, sentinel.fail_over)
            for number in range(11, 30):
                await frontier.add(requests(number))
                await asyncio.sleep(0.1)
            over.join()
            assert await frontier.add(requests(29)) == [AddStatus.KNOWN] * 29
            assert frontier.restarts >= 1

    with RedisSentinel() as sentinel:
        await test(sentinel)


async def test_a_connection_of_ours_that_nobody_asks_for_any_more_is_lost_silently(
    own_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    async with Client(own_server.url) as client, Client(own_server.url):
        redis: Any = client._redis
        connection = await redis.connection_pool.get_connection()
        transport = connection._writer.transport
        closed = transport.get_protocol()._get_close_waiter(connection._writer)
        # As when the other side is gone and something is written.
        transport._fatal_error(BrokenPipeError(32, "Broken pipe"))
        await asyncio.wait([closed])
        # As when whoever waited for that was cancelled meanwhile.
        told = {"message": "exception was never retrieved", "future": closed}
        problem = closed.exception()
        assert isinstance(problem, BrokenPipeError)
        asyncio.get_running_loop().call_exception_handler(told | {"exception": problem})
    assert "never retrieved" not in caplog.text


@pytest.mark.parametrize("problem", [BrokenPipeError(32, "Broken pipe"), ValueError("a bug")])
async def test_what_others_leave_behind_in_the_event_loop_is_reported(
    own_server: RedisServer, caplog: pytest.LogCaptureFixture, problem: Exception
) -> None:
    async with Client(own_server.url), Client(own_server.url):
        asyncio.get_running_loop().create_future().set_exception(problem)
    assert "never retrieved" in caplog.text


async def test_what_others_do_with_such_reports_stays_theirs(own_server: RedisServer) -> None:
    reported: list[dict[str, Any]] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda loop, context: reported.append(context))
    async with Client(own_server.url):
        loop.call_exception_handler({"message": "theirs", "exception": ValueError("a bug")})
    assert [context["message"] for context in reported] == ["theirs"]


async def test_a_server_that_lacks_its_replicas_holds_the_crawl(own_server: RedisServer) -> None:
    own_server.ask("CONFIG", "SET", "min-replicas-to-write", 1)
    async with Client(own_server.url, patience_s=0.0) as client:
        with pytest.raises(StoreError, match=r"lacks its replicas .* nothing is lost"):
            await client.run([("SET", "weft:jobs", 1)])


async def test_who_may_not_ask_which_server_answers_takes_each_connection_for_another(
    own_server: RedisServer,
) -> None:
    own_server.ask("ACL", "SETUSER", "me", "on", ">pass", "~*", "+@all", "-info")
    async with Client(own_server.url.replace("://", "://me:pass@")) as client:
        assert await client.run([("PING",)]) == [True]
        assert client.restarts == 0
        assert client.server_age_s == math.inf
        own_server.ask("CLIENT", "KILL", "TYPE", "normal")
        assert await client.run([("PING",)]) == [True]
        assert client.restarts >= 1


async def test_who_may_not_load_scripts_is_told_at_once(own_server: RedisServer) -> None:
    own_server.ask("ACL", "SETUSER", "me", "on", ">pass", "~*", "+@all", "-script")
    frontier = RedisFrontier(own_server.url.replace("://", "://me:pass@"), "job")
    with pytest.raises(StoreError, match=r"cannot be used.*script"):
        async with frontier:
            await frontier.add(requests(1))
