"""A slow network in front of a store: a proxy that hands everything on, later."""

import asyncio
import threading
from collections.abc import Callable
from typing import Self

CHUNK_BYTES = 64 * 1024


class SlowLink:
    """Listens on `address` for a server on loopback, in a thread, while the context is open."""

    def __init__(self, address: str, server_port: int) -> None:
        self._address = address
        self._server_port = server_port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._listening: asyncio.Server | None = None
        self._ways: set[asyncio.Task[None]] = set()
        self.port = 0
        #: How long bytes take, each way, for clients with these addresses.
        self.delays_s: dict[str, float] = {}

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _listen(self) -> None:
        self._listening = await asyncio.start_server(self._serve, self._address, 0)
        self.port = self._listening.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        assert self._listening
        self._listening.close()
        for way in self._ways:
            way.cancel()
        await asyncio.gather(*self._ways, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = writer.get_extra_info("peername")[0]
        try:
            from_server, to_server = await asyncio.open_connection("127.0.0.1", self._server_port)
        except OSError:
            writer.transport.abort()
            return
        for source, target in ((reader, to_server), (from_server, writer)):
            way = asyncio.ensure_future(self._carry(client, source, target))
            self._ways.add(way)
            way.add_done_callback(self._ways.discard)

    async def _carry(
        self, client: str, source: asyncio.StreamReader, target: asyncio.StreamWriter
    ) -> None:
        line = _Line(lambda: self.delays_s.get(client, 0.0))
        try:
            while data := await source.read(CHUNK_BYTES):
                line.later(lambda data=data: _write(target, data))  # type: ignore[misc]
        except OSError:
            pass  # the end, as well
        finally:
            line.later(target.close)


def _write(target: asyncio.StreamWriter, data: bytes) -> None:
    if not target.is_closing():
        target.write(data)


class _Line:
    """Does one thing after the other, each after the delay that counts when it comes."""

    def __init__(self, delay_s: Callable[[], float]) -> None:
        self._loop = asyncio.get_running_loop()
        self._delay_s = delay_s
        self._last_at_s = 0.0
        self._waiting = 0

    def later(self, action: Callable[[], None]) -> None:
        delay_s = self._delay_s()
        if not delay_s and not self._waiting:
            action()
            return
        # Later than the one before: things at the same time could overtake each other.
        self._last_at_s = max(self._loop.time() + delay_s, self._last_at_s + 1e-6)
        self._waiting += 1
        self._loop.call_at(self._last_at_s, self._act, action)

    def _act(self, action: Callable[[], None]) -> None:
        self._waiting -= 1
        action()
