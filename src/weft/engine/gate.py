"""The delay of a host, kept at the very moment of sending.

The frontier spaces claims by the delay of their host, but a claim may then wait for Scrapy, and
some requests never were claims: robots.txt, media files, requests that a callback sends inline.
All pass this gate last of all, one after the other: those of a host stand in line, and only when
one has passed does the time of the next begin to count. So they are a delay apart even if the
process was stopped while they stood there. The gate remembers when requests were sent, not when the
next may be: only the answer to robots.txt may tell how long to wait after asking for it.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from weft.clock import monotonic_s

#: Those who wait are asked so often whether they may still be sent.
LOOK_S = 1.0
#: Hosts to remember before the one that was fetched the longest time ago is forgotten.
MAX_HOSTS = 10_000


class _Line:
    """Those who wait for one host, the first of them with the lock."""

    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        self.length = 0


class Gate:
    def __init__(self, now_s: Callable[[], float] = monotonic_s) -> None:
        self._now_s = now_s
        self._sent_at_s: dict[str, float] = {}
        self._lines: dict[str, _Line] = {}

    def try_pass(self, host: str, delay_s: float) -> bool:
        """Pass at once, if nobody stands in line and the last request is its delay ago.

        The caller must send after that: the next waits for it.
        """
        if host in self._lines or self._left_s(host, delay_s) > 0:
            return False
        self._note_passed(host)
        return True

    async def wait(
        self, host: str, delay_s: float, may_send: Callable[[], Awaitable[bool]]
    ) -> bool:
        """Stand in line and pass; False: while it was the first there, `may_send` said no.

        `may_send` may take its time; meanwhile nothing passes to this host.
        """
        with self._standing_in_line(host) as line:
            async with line.turn:
                while await may_send():
                    left_s = self._left_s(host, delay_s)
                    if left_s <= 0:
                        self._note_passed(host)
                        return True
                    await asyncio.sleep(min(LOOK_S, left_s))
                return False

    @contextmanager
    def _standing_in_line(self, host: str) -> Iterator[_Line]:
        line = self._lines.setdefault(host, _Line())
        line.length += 1
        try:
            yield line
        finally:
            line.length -= 1
            if not line.length:
                del self._lines[host]

    def _left_s(self, host: str, delay_s: float) -> float:
        """How long it is until the last request of this host is its delay ago."""
        return self._sent_at_s.get(host, -math.inf) + delay_s - self._now_s()

    def _note_passed(self, host: str) -> None:
        self._sent_at_s.pop(host, None)
        self._sent_at_s[host] = self._now_s()
        if len(self._sent_at_s) > MAX_HOSTS:
            del self._sent_at_s[next(iter(self._sent_at_s))]

    def note_sent(self, host: str, ago_s: float) -> None:
        """A request of this host really went out so long ago: it may have been held up here."""
        sent_at_s = self._now_s() - ago_s
        self._sent_at_s[host] = max(sent_at_s, self._sent_at_s.get(host, -math.inf))

    def sent_ago_ms(self, host: str) -> int | None:
        """How long ago the last request was sent to this host; None: none was."""
        sent_at_s = self._sent_at_s.get(host)
        return None if sent_at_s is None else max(0, int((self._now_s() - sent_at_s) * 1000))
