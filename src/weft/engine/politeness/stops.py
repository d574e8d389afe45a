"""Cuts off requests that must no longer be sent, or waited for.

If the leases of this worker were not kept in time, others may take its buckets: whatever is under
way is cut off before they do.

The other case is a process that continues after a stop, for example by Ctrl-Z or SIGSTOP:

A request that has passed the last gate has not left the process yet: it waits for a connection, or
for the event loop. If the process is stopped at that moment for longer than its claims last, the
request would be sent when it continues, to a host that another worker serves by then. The first
thing that happens then is SIGCONT, so whatever has not been sent is cut off there and in the next
moments, while the gate is closed.

Connections of Scrapy's own handlers are Twisted's, which its reactor lists. Those of Weft's handler
are here while they are `Cuttable`; it also checks `is_cutting` before it starts, and `cut_count`
before it sends: a request that started before a cut is not sent after it, however long its lookup
took.
"""

import asyncio
import math
import signal
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Protocol

from scrapy.utils.reactor import is_reactor_installed
from twisted.internet import tcp

from weft.clock import monotonic_s

#: How long to cut off requests that had passed the gate: until they must have begun to be sent.
CUT_S = 0.2
#: For this long after a cut, a request that fails may have been cut off.
AFTERMATH_S = 1.0

# With this option, closing a connection discards unsent data. Otherwise the kernel keeps trying:
# data that could not be sent while the network was down would be sent when it is back.
_FORGETFUL = struct.pack("ii", 1, 0)

_SIGNAL = getattr(signal, "SIGCONT", None)  # Windows has none
_watching: set[Callable[[], None]] = set()


class Cuttable(Protocol):
    """A connection that is not Twisted's, or an attempt to make one."""

    @property
    def has_unsent(self) -> bool:
        """Whether it is being made, or has something left to send."""

    def cut(self) -> None:
        """Send nothing more, and end soon. May be called at any point of the code, and often."""


class _Cuts:
    """Shared by all crawls of the process, as connections are."""

    count = 0
    at_s = -math.inf


#: Everything in here can be cut off.
cuttables: set[Cuttable] = set()


class Stops:
    """`is_overdue` returns whether claims may have been given to others meanwhile."""

    def __init__(self, is_overdue: Callable[[], bool]) -> None:
        self._is_overdue = is_overdue
        self._went_on_at_s = -math.inf

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        _watching.add(self._go_on)
        if _SIGNAL is None or threading.current_thread() is not threading.main_thread():
            return
        if signal.getsignal(_SIGNAL) in (signal.SIG_DFL, signal.SIG_IGN):  # else it is the user's
            signal.signal(_SIGNAL, _note_signal)

    def close(self) -> None:
        _watching.discard(self._go_on)

    @property
    def is_cutting(self) -> bool:
        """Whether nothing may be sent now."""
        return monotonic_s() < self._went_on_at_s + CUT_S

    @property
    def has_cut(self) -> bool:
        """Whether a request that fails now may have been cut off."""
        return monotonic_s() < self._went_on_at_s + AFTERMATH_S

    def cut(self) -> None:
        """End everything under way; nothing is sent for a moment.

        Twisted then sends again, past the gate, what it had sent on a connection that was not new;
        so that is cut off, too.
        """
        self._went_on_at_s = _begin_cut()
        cut_all()
        self._loop.call_soon(self._cut)

    def _go_on(self) -> None:
        # Called in a signal handler, at any point of the code: do only what cannot disturb it.
        if self._is_overdue():
            self._went_on_at_s = _begin_cut()
            cut_unsent()
            self._loop.call_soon_threadsafe(self._cut)

    def _cut(self) -> None:
        cut_unsent()
        if self.is_cutting:
            self._loop.call_soon(self._cut)


def _note_signal(number: int, frame: FrameType | None) -> None:
    for go_on in [*_watching]:
        go_on()


def is_cutting() -> bool:
    """Whether nothing may be sent now by any crawl of this process."""
    return monotonic_s() < _Cuts.at_s + CUT_S


def cut_count() -> int:
    """A number that grows with each cut."""
    return _Cuts.count


def cut_unsent() -> None:
    """End the connections of Scrapy that are being made, or that have something left to send."""
    _shut("getWriters")
    for connection in [*cuttables]:
        if connection.has_unsent:
            connection.cut()


def cut_all() -> None:
    """End all connections of Scrapy."""
    _shut("getWriters", "getReaders")
    for connection in [*cuttables]:
        connection.cut()


def _begin_cut() -> float:
    _Cuts.count += 1
    _Cuts.at_s = monotonic_s()
    return _Cuts.at_s


def _shut(*getters: str) -> None:
    """Shut sockets. Twisted notices when it next looks at them, and fails pending requests."""
    if not is_reactor_installed():
        return
    from twisted.internet import reactor

    for getter in getters:
        # By name: Twisted's types do not say that this reactor has file descriptors.
        for connection in getattr(reactor, getter)():
            if isinstance(connection, tcp.Client):
                shut_socket(connection.socket)


def shut_socket(connection: socket.socket) -> None:
    """Let nothing more leave it, not even what the kernel has already taken."""
    with suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _FORGETFUL)
        connection.shutdown(socket.SHUT_RDWR)
