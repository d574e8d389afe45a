"""How requests of this worker take turns at hosts, see `frontier.turns`.

A request that needs a turn waits for one; `Visits` asks the frontier for it in the background.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from scrapy import Request

from weft.engine.politeness.visitedhosts import VisitedHosts


class TurnTaker:
    def __init__(self, hosts: VisitedHosts, now_s: Callable[[], float], wait_s: float) -> None:
        """`wait_s`: the longest wait for a turn, after which others are looked at."""
        self._hosts = hosts
        self._now_s = now_s
        self._wait_s = wait_s
        self._takers: dict[Request, str] = {}

    def is_free(self, host: str) -> bool:
        """Whether claims of this host need no turns."""
        return host not in self._hosts.shared

    @contextmanager
    def side_turn(self, request: Request, host: str) -> Iterator["HostTurn"]:
        """The turn of a side request, while it waits."""
        known = self._hosts[host]
        known.side_waiting += 1
        try:
            yield HostTurn(self, request, host, is_side=True)
        finally:
            known.side_waiting -= 1
            self._hosts.work.set()

    def claim_turn(self, request: Request, host: str) -> "HostTurn":
        """The turn of a claim, which may need none."""
        return HostTurn(self, request, host, is_side=False)

    def take(self, request: Request, host: str) -> bool:
        """Use a turn, if there is one."""
        known = self._hosts[host]
        if not known.at_hand(self._now_s()):
            return False
        known.turns -= 1
        known.under_way += 1
        self._takers[request] = host
        self._hosts.tell(known)
        return True

    async def wait(self, host: str) -> None:
        """Wait until there may be a turn, but not for long. Only the first in line waits."""
        known = self._hosts[host]
        known.news.clear()
        known.is_asking = True
        self._hosts.work.set()
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._wait_s):
                    await known.news.wait()
        finally:
            known.is_asking = False

    def note_sent(self, request: Request) -> None:
        """The request has a connection and goes out now, whether it took a turn or not."""
        host = self._takers.get(request)
        if host is not None:
            self._hosts.tell(self._hosts[host])

    def leave(self, request: Request) -> None:
        """The request was answered or has failed, whether it took a turn or not."""
        host = self._takers.pop(request, None)
        if host is not None:
            known = self._hosts[host]
            known.under_way -= 1
            self._hosts.tell(known)


@dataclass(slots=True, frozen=True)
class HostTurn:
    """The turn of one request."""

    taker: TurnTaker
    request: Request
    host: str
    is_side: bool

    def take(self) -> bool:
        needs_none = not self.is_side and self.taker.is_free(self.host)
        return needs_none or self.taker.take(self.request, self.host)

    async def wait(self) -> None:
        await self.taker.wait(self.host)
