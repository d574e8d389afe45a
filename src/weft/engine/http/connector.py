"""Makes connections: a lookup, a socket, and TLS if needed.

A host may have several addresses, and one of them may not answer. So the next one is tried soon, in
parallel (RFC 8305, "Happy Eyeballs"). The first that answers is used, and tried first from then on.
"""

import asyncio
import errno
import os
import socket
import ssl
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeAlias

from aiohappyeyeballs import start_connection
from scrapy.exceptions import DownloadConnectionRefusedError, DownloadFailedError

from weft.engine.http.connection import CUT_OFF, Connection, Owner
from weft.engine.http.dispatch import Route
from weft.engine.http.resolver import HostResolver
from weft.engine.politeness import stops

#: How long to wait for an address before the next is tried, too: what the RFC recommends.
NEXT_ADDRESS_S = 0.25

#: An address as `getaddrinfo` returns it.
_Info: TypeAlias = tuple[int, int, int, str, tuple[str, int]]


class Attempt:
    """A connection that is being made, and may be cut off meanwhile."""

    has_unsent = True

    def __init__(self, timer: asyncio.Timeout) -> None:
        self.is_cut = False
        self._addresses: dict[socket.socket, str] = {}
        self._timer = timer
        self._loop = asyncio.get_running_loop()

    def make_socket(self, info: _Info) -> socket.socket:
        """Make a socket that can be cut off."""
        made = socket.socket(*info[:3])
        self._addresses[made] = info[4][0]
        return made

    def address_of(self, sock: socket.socket) -> str:
        return self._addresses[sock]

    def share_s(self, number: int) -> float | None:
        """An equal share of the time left for each of `number` attempts; None for the last one."""
        until_s = self._timer.when()
        if number == 1 or until_s is None:
            return None
        return max(0.001, until_s - self._loop.time()) / number

    def cut(self) -> None:
        if self.is_cut:
            return
        self.is_cut = True
        for each in [*self._addresses]:
            stops.shut_socket(each)
        self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        """End the wait for a lookup, or for a server that does not answer."""
        if self in stops.cuttables and not self._timer.expired():
            self._timer.reschedule(self._loop.time())


class Connector:
    def __init__(
        self, resolver: HostResolver, owner: Owner, make_tls: Callable[[], ssl.SSLContext]
    ) -> None:
        self._resolver = resolver
        self._owner = owner
        self._make_tls = make_tls

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return self._make_tls()

    async def connect(self, route: Route, until_s: float) -> Connection:
        """Raises TimeoutError if there is no connection by `until_s`, a time of the event loop."""
        timer = asyncio.timeout_at(until_s)
        attempt = Attempt(timer)
        stops.cuttables.add(attempt)
        try:
            async with timer:
                return await self._try_all(route, attempt)
        except TimeoutError as error:
            if attempt.is_cut:
                raise DownloadFailedError(CUT_OFF) from error
            self._resolver.forget(route.origin.host)
            raise
        finally:
            stops.cuttables.discard(attempt)

    async def _try_all(self, route: Route, attempt: Attempt) -> Connection:
        host = route.origin.host
        addresses = await self._resolver.addresses(host)
        try:
            connection = await self._first_of(route, addresses, attempt)
        except OSError as error:
            if attempt.is_cut:
                raise DownloadFailedError(CUT_OFF) from error
            self._resolver.forget(host)
            raise _translated(error) from error
        self._resolver.prefer(host, str(connection.ip_address))
        return connection

    async def _first_of(
        self, route: Route, addresses: Sequence[str], attempt: Attempt
    ) -> Connection:
        """The connection to the first address that answers, and speaks TLS if needed."""
        left = [*addresses]
        while True:
            sock = await _connected(route, left, attempt)
            address = attempt.address_of(sock)
            try:
                return await self._begin(route, address, sock, attempt.share_s(len(left)))
            except OSError:
                left.remove(address)
                if attempt.is_cut or not left:
                    raise

    async def _begin(
        self, route: Route, address: str, sock: socket.socket, tls_s: float | None
    ) -> Connection:
        origin = route.origin
        _, connection = await asyncio.get_running_loop().create_connection(
            lambda: Connection(route, address, sock, self._owner),
            sock=sock,
            ssl=self._tls if origin.is_tls else None,
            server_hostname=origin.host.rstrip(".") if origin.is_tls else None,
            ssl_handshake_timeout=tls_s if origin.is_tls else None,
        )
        return connection


async def _connected(route: Route, addresses: Sequence[str], attempt: Attempt) -> socket.socket:
    sock = await start_connection(
        [_info(address, route.origin.port) for address in addresses],
        local_addr_infos=[_info(*route.local)] if route.local else None,
        happy_eyeballs_delay=NEXT_ADDRESS_S,
        socket_factory=attempt.make_socket,
    )
    if attempt.is_cut:  # the loop takes a shut socket for a connected one
        sock.close()
        raise DownloadFailedError(CUT_OFF)
    return sock


def _info(address: str, port: int) -> _Info:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return family, socket.SOCK_STREAM, 0, "", (address, port)


def _translated(error: OSError) -> Exception:
    if isinstance(error, ConnectionRefusedError):
        reason = f"{errno.ECONNREFUSED}: {os.strerror(errno.ECONNREFUSED)}"
        return DownloadConnectionRefusedError(f"Connection was refused by other side: {reason}.")
    return DownloadFailedError(f"cannot connect: {error}")
