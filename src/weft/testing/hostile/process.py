"""The serving process: plays the answers on real connections."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from weft.testing.hostile.answers import HostileAnswer, whole
from weft.testing.hostile.site import Hostile
from weft.testing.site.hits import Hit, HitLog
from weft.testing.site.process import FLUSH_PATH, FORGET_PATH
from weft.testing.site.wire import BadRequest, Request, take_request


class HostileService:
    """What all connections share."""

    def __init__(self, site: Hostile, port: int, log: HitLog | None) -> None:
        self._site = site
        self._port = port
        self._log = log
        self._asked: Counter[tuple[str, str]] = Counter()

    def answer(self, host: str, client: str, request: Request) -> HostileAnswer:
        if request.path in (FLUSH_PATH, FORGET_PATH):
            return self._control(request.path)
        self._asked[host, request.path] += 1
        if self._log:
            at_s = time.monotonic()
            self._log.add(Hit(at_s, host, request.method, request.target, 0, client))
        is_first = self._asked[host, request.path] == 1
        return self._site.answer(host, self._port, request.path, is_first=is_first)

    def _control(self, path: str) -> HostileAnswer:
        if path == FORGET_PATH:
            self._asked.clear()
        if self._log:
            (self._log.clear if path == FORGET_PATH else self._log.flush)()
        return whole("done\n")


class HostileConnection(asyncio.Protocol):
    """Answers the requests of one connection in order, as slowly as the answer demands."""

    _transport: asyncio.Transport

    def __init__(self, service: HostileService) -> None:
        self._service = service
        self._buffer = b""
        self._playing: asyncio.Task[None] | None = None
        self._may_write = asyncio.Event()
        self._may_write.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._host = transport.get_extra_info("sockname")[0]
        self._client = (transport.get_extra_info("peername") or ("",))[0]

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._play_next()

    def pause_writing(self) -> None:
        self._may_write.clear()

    def resume_writing(self) -> None:
        self._may_write.set()

    def connection_lost(self, error: Exception | None) -> None:
        if self._playing is not None:
            self._playing.cancel()

    def _play_next(self) -> None:
        if self._playing is not None or self._transport.is_closing():
            return
        try:
            request, self._buffer = take_request(self._buffer)
        except BadRequest:
            self._transport.close()
            return
        if request is not None:
            answer = self._service.answer(self._host, self._client, request)
            self._playing = asyncio.ensure_future(self._play(answer))

    async def _play(self, answer: HostileAnswer) -> None:
        for piece in answer.pieces():
            self._transport.write(piece)
            await self._may_write.wait()
            await asyncio.sleep(answer.pause_s)
        if answer.then == "hang":
            await asyncio.Event().wait()  # until the client disconnects
        self._playing = None
        if answer.then == "close":
            self._transport.close()
        elif answer.then == "reset":
            with suppress(OSError):
                self._transport.abort()
        else:
            self._play_next()


def connections_of(
    site: Hostile,
) -> Callable[[int, HitLog | None], Callable[[], HostileConnection]]:
    def make(port: int, log: HitLog | None) -> Callable[[], HostileConnection]:
        service = HostileService(site, port, log)
        return lambda: HostileConnection(service)

    return make
