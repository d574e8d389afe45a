"""Requests that are no claims: robots.txt, media files, what a callback sends inline.

The frontier does not know them, so it does not limit how many of them a host gets at a time. That
is done here, for one worker.
"""

import asyncio
from dataclasses import dataclass

from scrapy import Request


@dataclass(slots=True)
class _Host:
    room: asyncio.Semaphore
    #: Those who are under way or wait.
    users: int = 0


class Aside:
    def __init__(self) -> None:
        self._hosts: dict[str, _Host] = {}
        self._under_way: dict[Request, str] = {}

    async def enter(self, request: Request, host: str, concurrency: int) -> None:
        """Wait until fewer than so many are under way to this host; then this one is, until it has
        left."""
        entry = self._hosts.setdefault(host, _Host(asyncio.Semaphore(concurrency)))
        entry.users += 1
        try:
            await entry.room.acquire()
        except BaseException:
            self._forget(host, entry)
            raise
        self._under_way[request] = host

    def leave(self, request: Request) -> None:
        """It is answered, or has failed. Others than those that have entered do not matter."""
        host = self._under_way.pop(request, None)
        if host is not None:
            entry = self._hosts[host]
            entry.room.release()
            self._forget(host, entry)

    def _forget(self, host: str, entry: _Host) -> None:
        entry.users -= 1
        if not entry.users:
            del self._hosts[host]
