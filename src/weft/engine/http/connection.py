"""A connection to a server, for one request after another."""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Hashable
from typing import Protocol, cast

from scrapy.exceptions import DownloadFailedError
from twisted.internet.ssl import Certificate

from weft.clock import monotonic_s
from weft.engine.http.exchange import Exchange
from weft.engine.politeness import stops

#: The error of a request that must no longer be sent.
CUT_OFF = "cut off, for another worker may fetch it by now"


class Owner(Protocol):
    """Keeps connections, and is notified of what becomes of them."""

    def note_made(self, connection: "Connection") -> None: ...

    def note_idle(self, connection: "Connection") -> None:
        """Its answer is complete, and it is good for another request."""

    def note_lost(self, connection: "Connection") -> None: ...


class Connection(asyncio.Protocol):
    def __init__(self, key: Hashable, address: str, sock: socket.socket, owner: Owner) -> None:
        #: Requests with the same key can share it.
        self.key = key
        self.ip_address = ipaddress.ip_address(address)
        self.is_open = False
        self.certificate: Certificate | None = None
        self._socket = sock
        self._owner = owner
        self._exchange: Exchange | None = None
        self._is_sending = False

    # For its users

    def send(self, exchange: Exchange, data: bytes) -> None:
        """Write the request; the exchange gets its answer.

        It is not sent after a cut, not even if the process was stopped in here: it is marked as
        unsent before the cuts are checked.
        """
        self._exchange = exchange
        self._is_sending = True
        if stops.cut_count() != exchange.cuts:
            exchange.arrival.fail(DownloadFailedError(CUT_OFF))
        elif self.is_open:
            exchange.arrival.sent_at_s = monotonic_s()
            self._transport.write(data)
        else:
            exchange.end(None)
        self._is_sending = False

    def drop(self, exchange: Exchange) -> None:
        """Close, unless the answer is complete: then others may already have the connection."""
        if self._exchange is exchange:
            self._exchange = None
            self.close()

    def close(self) -> None:
        """Close at once, without notifying the server."""
        self.is_open = False
        self._transport.abort()

    @property
    def tls(self) -> ssl.SSLObject | None:
        return cast("ssl.SSLObject | None", self._transport.get_extra_info("ssl_object"))

    # For cutting it off

    @property
    def has_unsent(self) -> bool:
        return self._is_sending or self._transport.get_write_buffer_size() > 0

    def cut(self) -> None:
        self.is_open = False
        stops.shut_socket(self._socket)

    # What the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self.certificate = _certificate(self.tls)
        self.is_open = True
        stops.cuttables.add(self)
        self._owner.note_made(self)

    def data_received(self, data: bytes) -> None:
        exchange = self._exchange
        if exchange is None:  # nobody asked for it
            self.close()
            return
        exchange.feed(data)
        if exchange.is_over:
            self._finish(exchange)

    def connection_lost(self, error: Exception | None) -> None:
        self.is_open = False
        stops.cuttables.discard(self)
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            exchange.end(error)
        self._owner.note_lost(self)

    def _finish(self, exchange: Exchange) -> None:
        self._exchange = None
        if self.is_open and exchange.is_reusable and not self.has_unsent:
            self._owner.note_idle(self)
        else:
            self.close()


def _certificate(tls: ssl.SSLObject | None) -> Certificate | None:
    """The certificate as Scrapy's handler shows it: Twisted's."""
    encoded = tls.getpeercert(binary_form=True) if tls else None
    return Certificate.load(encoded) if encoded else None
