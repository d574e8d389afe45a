"""Keeps the budget of a host at the very moment of sending.

The frontier spaces claims by the delay of their host, but a claim may then wait for Scrapy, and
side requests never were claims: robots.txt, media files, requests that a callback sends inline. All
pass this gate last, one after another: requests to a host wait in line, and the delay of the next
starts only when the one before has passed. So they are a delay apart even if the process was
stopped while they waited. The gate remembers when requests were sent, not when the next may be:
only the answer to a robots.txt may say how long to wait after asking for it.

A request that has passed may still wait for a connection, and another may overtake it. So Weft's
download handler asks the gate once more when it has a connection (`hold_s`).

No more requests to a host are past the gate at a time than its concurrency: each counts until it
has left the downloader. A claim that waits for its robots.txt has not passed yet, and is not in the
way.

The gate does not know what others send. Where that matters, a request needs a turn from the
frontier to pass, see `Visits`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple, Protocol

from scrapy import Request

from weft.clock import monotonic_s
from weft.engine.politeness.sendtimes import SendTimes

#: How often to check whether waiting requests may still be sent.
LOOK_S = 1.0
#: Other workers wait while a request is connecting, but no longer than this: its host may be dead.
UNSENT_S = 5.0


class HostBudget(NamedTuple):
    """What a host allows."""

    delay_s: float
    concurrency: int


class MayNeedTurn(Protocol):
    """The turn that a request may need."""

    def take(self) -> bool:
        """Whether the request can pass: it needs no turn, or has one."""

    async def wait(self) -> None:
        """Wait until it may have one, but not for long."""


class _Passed(NamedTuple):
    host: str
    delay_s: float


class _Line:
    """The requests that wait for one host; the first of them has the lock."""

    def __init__(self) -> None:
        self.lead = asyncio.Lock()
        self.length = 0
        #: A request has left.
        self.room = asyncio.Event()

    async def wait_for_room(self) -> None:
        self.room.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_S):
                await self.room.wait()


class Gate:
    def __init__(self, now_s: Callable[[], float] = monotonic_s) -> None:
        self._now_s = now_s
        self.times = SendTimes(now_s)
        self._lines: dict[str, _Line] = {}
        # Requests that have passed and not left.
        self._under_way: dict[Request, _Passed] = {}
        self._counts: dict[str, int] = {}
        # Those of hosts with a delay that are not sent yet, and when they passed.
        self._unsent: dict[Request, float] = {}

    def try_pass(self, request: Request, host: str, budget: HostBudget) -> bool:
        """Pass at once, if nothing waits in line, the delay since the last request is over, and
        there is room.

        The caller must then send the request: the next one waits for it.
        """
        if host in self._lines or self.times.pass_in_s(host, budget.delay_s) > 0:
            return False
        if self._counts.get(host, 0) >= budget.concurrency:
            return False
        self._note_passed(request, host, budget)
        return True

    async def wait(
        self,
        request: Request,
        host: str,
        budget_now: Callable[[], HostBudget],
        turn: MayNeedTurn,
        may_send: Callable[[], Awaitable[bool]],
    ) -> bool:
        """Wait in line and pass. Returns False if `may_send` said no at the head of the line.

        `may_send` may take a while; meanwhile nothing passes to this host. The budget may change
        while others are in front.
        """
        with self._standing_in_line(host) as line:
            async with line.lead:
                while await may_send():
                    budget = budget_now()
                    left_s = self.times.pass_in_s(host, budget.delay_s)
                    if left_s > 0:
                        await asyncio.sleep(min(LOOK_S, left_s))
                    elif self.under_way(host) >= budget.concurrency:
                        await line.wait_for_room()
                    elif turn.take():
                        self._note_passed(request, host, budget)
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

    def _note_passed(self, request: Request, host: str, budget: HostBudget) -> None:
        self._under_way[request] = _Passed(host, budget.delay_s)
        self._counts[host] = self._counts.get(host, 0) + 1
        self.times.note_passed(host)
        if budget.delay_s > 0:
            self._unsent[request] = self._now_s()

    def hold_s(self, request: Request) -> float:
        """How long to hold back a request that could be sent now, because another one was sent to
        its host less than a delay ago. 0: it is sent now, and the next one waits for its delay.
        """
        passed = self._under_way.get(request)
        if passed is None or passed.delay_s <= 0:
            return 0.0
        left_s = self.times.send_in_s(passed.host, passed.delay_s)
        if left_s > 0:
            return left_s
        self.times.note_sent(passed.host)
        self._unsent.pop(request, None)
        return 0.0

    def leave(self, request: Request) -> None:
        """The request was answered or has failed. Requests that have not passed are ignored."""
        passed = self._under_way.pop(request, None)
        if passed is None:
            return
        self._unsent.pop(request, None)
        host = passed.host
        self._counts[host] -= 1
        if not self._counts[host]:
            del self._counts[host]
        if line := self._lines.get(host):
            line.room.set()

    def under_way(self, host: str) -> int:
        """Requests to this host that have passed and not left."""
        return self._counts.get(host, 0)

    def unsent(self, host: str) -> int:
        """Requests to this host that passed a moment ago and are not sent yet; only if it has a
        delay."""
        since_s = self._now_s() - UNSENT_S
        return sum(
            passed_at_s > since_s and self._under_way[request].host == host
            for request, passed_at_s in self._unsent.items()
        )

    def standing(self, host: str) -> int:
        """Requests to this host that wait in line."""
        line = self._lines.get(host)
        return line.length if line else 0
