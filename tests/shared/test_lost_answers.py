"""What was done on the server, but whose answer did not arrive."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from launchers.redis import RedisServer
from weft.config import FrontierConfig, SharedConfig
from weft.frontier.redis import RedisFrontier
from weft.redis.client import Client
from weft.testing.frontier_contract import done, requests


class Link:
    """The way to a server; answers can get lost on it."""

    def __init__(self, server_port: int) -> None:
        self._server_port = server_port
        self.idle = asyncio.Event()
        self.is_losing = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.idle.clear()
        from_server, to_server = await asyncio.open_connection("127.0.0.1", self._server_port)
        await asyncio.gather(
            self._carry(reader, to_server, can_lose=False),
            self._carry(from_server, writer, can_lose=True),
        )
        for end in (to_server, writer):
            with suppress(ConnectionError):
                await end.wait_closed()
        self.idle.set()

    async def _carry(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, *, can_lose: bool
    ) -> None:
        with suppress(ConnectionError):
            while data := await source.read(1 << 16):
                if can_lose and self.is_losing:
                    self.is_losing = False
                    break
                target.write(data)
                await target.drain()
        target.close()


@asynccontextmanager
async def linked(server: RedisServer) -> AsyncIterator[tuple[Link, str]]:
    link = Link(int(server.url.rpartition(":")[2].partition("/")[0]))
    listening = await asyncio.start_server(link.serve, "127.0.0.1", 0)
    try:
        yield link, f"redis://127.0.0.1:{listening.sockets[0].getsockname()[1]}/0"
    finally:
        listening.close()
        await link.idle.wait()


async def test_claims_that_were_made_but_not_heard_of_come_again(redis_server: RedisServer) -> None:
    config = FrontierConfig(shared=SharedConfig(buckets=1))
    async with (
        linked(redis_server) as (link, url),
        RedisFrontier(url, "job", config) as frontier,
    ):
        await frontier.add(requests(8))
        heard = (await frontier.claim("me", 1)).claims
        link.is_losing = True
        heard += (await frontier.claim("me", 4)).claims
        assert not link.is_losing
        heard += (await frontier.claim("me", 8)).claims
        assert len({claim.request.fingerprint for claim in heard}) == len(heard) == 8
        assert all(await frontier.finish(done(heard)))
        stats = await frontier.stats()
    assert (stats.done, stats.pending, stats.stale) == (8, 0, 0)


async def test_a_call_that_is_cancelled_ends(redis_server: RedisServer) -> None:
    async with Client(redis_server.url) as client:

        async def go_on() -> None:
            while True:
                await client.run([("PING",)])

        for _ in range(100):
            task = asyncio.ensure_future(go_on())
            await asyncio.sleep(0.001)
            task.cancel()
            async with asyncio.timeout(5):
                with suppress(asyncio.CancelledError):
                    await task
            assert task.cancelled()
