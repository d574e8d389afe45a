"""How a connection is made: a lookup, a socket, and TLS where it is wanted."""

import asyncio
import errno
import os
import socket
import ssl
from collections.abc import Callable
from functools import cached_property

from scrapy.exceptions import DownloadConnectionRefusedError, DownloadFailedError

from weft.engine import stops
from weft.engine.http.connection import CUT_OFF, Connection, Owner
from weft.engine.http.order import Route
from weft.engine.http.resolver import Resolver


class Attempt:
    """A connection that is being made, and may be cut off meanwhile."""

    has_unsent = True

    def __init__(self, timer: asyncio.Timeout) -> None:
        self.is_cut = False
        self.socket: socket.socket | None = None
        self._timer = timer
        self._loop = asyncio.get_running_loop()

    def cut(self) -> None:
        if self.is_cut:
            return
        self.is_cut = True
        if self.socket is not None:
            stops.shut_socket(self.socket)
        self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        """It may be waiting for a lookup, or a server that does not answer."""
        if self in stops.cuttables and not self._timer.expired():
            self._timer.reschedule(self._loop.time())


class Connector:
    def __init__(
        self, resolver: Resolver, owner: Owner, make_tls: Callable[[], ssl.SSLContext]
    ) -> None:
        self._resolver = resolver
        self._owner = owner
        self._make_tls = make_tls

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return self._make_tls()

    async def connect(self, route: Route, until_s: float) -> Connection:
        """TimeoutError: there was none by that time of the event loop."""
        timer = asyncio.timeout_at(until_s)
        attempt = Attempt(timer)
        stops.cuttables.add(attempt)
        try:
            async with timer:
                return await self._try_all(route, attempt)
        except TimeoutError as error:
            if attempt.is_cut:
                raise DownloadFailedError(CUT_OFF) from error
            raise
        finally:
            stops.cuttables.discard(attempt)

    async def _try_all(self, route: Route, attempt: Attempt) -> Connection:
        host = route.origin.host
        for address in await self._resolver.addresses(host):
            try:
                return await self._try_one(route, address, attempt)
            except OSError as error:
                if attempt.is_cut:
                    raise DownloadFailedError(CUT_OFF) from error
                problem = error
        self._resolver.forget(host)
        raise _translated(problem) from problem

    async def _try_one(self, route: Route, address: str, attempt: Attempt) -> Connection:
        sock = await _connected(route, address, attempt)
        origin = route.origin
        _, connection = await asyncio.get_running_loop().create_connection(
            lambda: Connection(route, address, sock, self._owner),
            sock=sock,
            ssl=self._tls if origin.is_tls else None,
            server_hostname=origin.host.rstrip(".") if origin.is_tls else None,
        )
        return connection


async def _connected(route: Route, address: str, attempt: Attempt) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    # From now on it can be cut off.
    attempt.socket = sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        if route.local is not None:
            sock.bind(route.local)
        await asyncio.get_running_loop().sock_connect(sock, (address, route.origin.port))
        if attempt.is_cut:  # the loop takes a socket that was shut for one that is connected
            raise DownloadFailedError(CUT_OFF)
    except BaseException:
        sock.close()
        raise
    return sock


def _translated(error: OSError) -> Exception:
    if isinstance(error, ConnectionRefusedError):
        reason = f"{errno.ECONNREFUSED}: {os.strerror(errno.ECONNREFUSED)}"
        return DownloadConnectionRefusedError(f"Connection was refused by other side: {reason}.")
    return DownloadFailedError(f"cannot connect: {error}")
