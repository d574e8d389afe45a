"""The budget of a host, kept at the very moment of sending.

The frontier spaces claims by the delay of their host, but a claim may then wait for Scrapy, and
side requests never were claims: robots.txt, media files, requests that a callback sends inline. All
pass this gate last of all, one after the other: those of a host stand in line, and only when one
has passed does the time of the next begin to count. So they are a delay apart even if the process
was stopped while they stood there. The gate remembers when requests were sent, not when the next
may be: only the answer to robots.txt may tell how long to wait after asking for it.

No more requests of a host are past the gate at a time than its concurrency: each is there until it
has left the downloader. A claim that waits for its robots.txt has not passed yet, and so is not in
the way.

A host that has asked for a pause is left alone: nothing that stands here passes. The frontier hears
of it a moment later, and keeps it longer than this process lives.

What others send is not known here. Where that matters, who passes needs a turn of the frontier's,
see `Visits`.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple, Protocol

from scrapy import Request

from weft.clock import monotonic_s

#: Those who wait are asked so often whether they may still be sent.
LOOK_S = 1.0
#: Hosts to remember before the one that was fetched the longest time ago is forgotten.
MAX_HOSTS = 10_000


class Limits(NamedTuple):
    """What a host allows."""

    delay_s: float
    concurrency: int


class Turn(Protocol):
    """The turn that a request may need."""

    def take(self) -> bool:
        """Whether it can pass: it needs none, or has one."""

    async def wait(self) -> None:
        """Until it may have one, but not for long."""


class _Line:
    """Those who wait for one host, the first of them with the lock."""

    def __init__(self) -> None:
        self.lead = asyncio.Lock()
        self.length = 0
        #: Someone has left.
        self.room = asyncio.Event()

    async def wait_for_room(self) -> None:
        self.room.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_S):
                await self.room.wait()


class Gate:
    def __init__(self, now_s: Callable[[], float] = monotonic_s) -> None:
        self._now_s = now_s
        self._sent_at_s: dict[str, float] = {}
        self._lines: dict[str, _Line] = {}
        self._paused_until_s: dict[str, float] = {}
        # Past the gate and not back.
        self._under_way: dict[Request, str] = {}
        self._counts: dict[str, int] = {}

    def try_pass(self, request: Request, host: str, limits: Limits) -> bool:
        """Pass at once, if nobody stands in line, the last request is its delay ago, and there is
        room.

        The caller must send after that: the next waits for it.
        """
        if host in self._lines or self._left_s(host, limits.delay_s) > 0:
            return False
        if host in self._paused_until_s and self.pause_left_s(host):
            return False
        if self._counts.get(host, 0) >= limits.concurrency:
            return False
        self._note_passed(request, host)
        return True

    async def wait(
        self,
        request: Request,
        host: str,
        limits: Limits,
        turn: Turn,
        may_send: Callable[[], Awaitable[bool]],
    ) -> bool:
        """Stand in line and pass; False: while it was the first there, `may_send` said no.

        `may_send` may take its time; meanwhile nothing passes to this host.
        """
        with self._standing_in_line(host) as line:
            async with line.lead:
                while await may_send():
                    left_s = self._left_s(host, limits.delay_s)
                    if left_s > 0:
                        await asyncio.sleep(min(LOOK_S, left_s))
                    elif self.under_way(host) >= limits.concurrency:
                        await line.wait_for_room()
                    elif turn.take():
                        self._note_passed(request, host)
                        return True
                    else:
                        await turn.wait()
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

    def _note_passed(self, request: Request, host: str) -> None:
        self._under_way[request] = host
        self._counts[host] = self._counts.get(host, 0) + 1
        self._sent_at_s.pop(host, None)
        self._sent_at_s[host] = self._now_s()
        if len(self._sent_at_s) > MAX_HOSTS:
            del self._sent_at_s[next(iter(self._sent_at_s))]

    def leave(self, request: Request) -> None:
        """It is answered, or has failed. Others than those that have passed do not matter."""
        host = self._under_way.pop(request, None)
        if host is None:
            return
        self._counts[host] -= 1
        if not self._counts[host]:
            del self._counts[host]
        if line := self._lines.get(host):
            line.room.set()

    def under_way(self, host: str) -> int:
        """Requests of this host that have passed and not left."""
        return self._counts.get(host, 0)

    def standing(self, host: str) -> int:
        """Requests of this host that stand in line."""
        line = self._lines.get(host)
        return line.length if line else 0

    def pause(self, host: str, pause_s: float) -> None:
        """The host has asked to be left alone for so long."""
        until_s = self._now_s() + pause_s
        self._paused_until_s[host] = max(until_s, self._paused_until_s.get(host, -math.inf))

    def pause_left_s(self, host: str) -> float:
        """How long the host is to be left alone; 0: it is not."""
        if host not in self._paused_until_s:
            return 0.0
        left_s = self._paused_until_s[host] - self._now_s()
        if left_s <= 0:
            del self._paused_until_s[host]
        return max(0.0, left_s)

    def note_sent(self, host: str, ago_s: float) -> None:
        """A request of this host really went out so long ago: it may have been held up here."""
        sent_at_s = self._now_s() - ago_s
        self._sent_at_s[host] = max(sent_at_s, self._sent_at_s.get(host, -math.inf))

    def sent_ago_ms(self, host: str) -> int | None:
        """How long ago the last request was sent to this host; None: none was."""
        sent_at_s = self._sent_at_s.get(host)
        return None if sent_at_s is None else max(0, int((self._now_s() - sent_at_s) * 1000))
