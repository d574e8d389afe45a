"""The connections of a handler; idle ones can be taken for the next request.

The most recently used one is taken first, so that the others can grow old and be closed.
"""

import asyncio
from collections.abc import Hashable

try:
    import resource
except ImportError:  # Windows has none
    resource = None  # type: ignore[assignment]

from weft.engine.http.connection import Connection
from weft.engine.http.sweep import Sweep

#: How long a connection may be idle. Servers close theirs after 5 to 75 seconds.
IDLE_S = 30.0
#: How many may be idle over all hosts.
MAX_IDLE = 4096
#: The share of the process's limit of open files that they may take.
SHARE = 0.5
#: How many may be idle if the limit of open files is unknown.
MAX_IDLE_UNKNOWN = 256
#: How long to wait at the end for all to be closed.
CLOSE_S = 1.0

_LOOK_S = 1.0


class Pool:
    def __init__(self, *, idle_s: float = IDLE_S, max_idle: int | None = None) -> None:
        """`max_idle` is None to derive it from the limit of open files."""
        self._idle_s = idle_s
        self._max_idle = max_idle if max_idle is not None else _most_idle()
        self._open: set[Connection] = set()
        self._is_empty = asyncio.Event()
        # In both, those that have been idle longest come first.
        self._since_s: dict[Connection, float] = {}
        self._idle: dict[Hashable, list[Connection]] = {}
        self._sweep = Sweep(min(_LOOK_S, idle_s), self._close_old)

    def take(self, key: Hashable) -> Connection | None:
        while idle := self._idle.get(key):
            connection = idle[-1]
            self._remove(connection)
            if connection.is_open:
                return connection
        return None

    async def close(self) -> None:
        self._sweep.stop()
        for connection in self._open:
            connection.close()
        if self._open:
            self._is_empty.clear()
            try:
                await asyncio.wait_for(self._is_empty.wait(), CLOSE_S)
            except TimeoutError:  # the event loop still closes them, later
                return

    # Called by connections

    def note_made(self, connection: Connection) -> None:
        self._open.add(connection)

    def note_idle(self, connection: Connection) -> None:
        self._since_s[connection] = asyncio.get_running_loop().time()
        self._idle.setdefault(connection.key, []).append(connection)
        self._sweep.wake()
        if len(self._since_s) > self._max_idle:
            self._close_first()

    def note_lost(self, connection: Connection) -> None:
        self._open.discard(connection)
        if connection in self._since_s:
            self._remove(connection)
        if not self._open:
            self._is_empty.set()

    def _remove(self, connection: Connection) -> None:
        del self._since_s[connection]
        idle = self._idle[connection.key]
        idle.remove(connection)
        if not idle:
            del self._idle[connection.key]

    def _close_first(self) -> None:
        connection = next(iter(self._since_s))
        self._remove(connection)
        connection.close()

    def _close_old(self, now_s: float) -> bool:
        while self._since_s and next(iter(self._since_s.values())) + self._idle_s <= now_s:
            self._close_first()
        return bool(self._since_s)


def _most_idle() -> int:
    if resource is None:
        return MAX_IDLE_UNKNOWN
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_IDLE if limit == resource.RLIM_INFINITY else min(MAX_IDLE, int(limit * SHARE))
