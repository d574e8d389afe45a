"""Lends the browser to pages: so many at a time, from a browser that works.

It is started for the first page. One that has crashed, or has opened many pages, gets no more of
them and ends with its last; the next page gets a new one. It also ends when no page has come for a
while.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from scrapy.exceptions import DownloadFailedError

from weft.engine.browser.chromium import Chromium
from weft.engine.browser.config import BrowserConfig

#: A browser without pages ends after this time.
IDLE_S = 120.0

CLOSING = "the crawl is being closed"


class Browsers:
    def __init__(self, config: BrowserConfig, idle_s: float = IDLE_S) -> None:
        self._config = config
        self._idle_s = idle_s
        self._room = asyncio.Semaphore(config.pages)
        self._starting = asyncio.Lock()
        self._current: Chromium | None = None
        self._counts: dict[Chromium, int] = {}
        self._idle: asyncio.TimerHandle | None = None
        self._is_closed = False
        self._tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def lend(self) -> AsyncIterator[Chromium]:
        """Waits for room. Raises ConfigError or BrowserCrashError if no browser starts."""
        async with self._room:
            chromium = await self._take()
            try:
                yield chromium
            finally:
                self._give_back(chromium)

    async def close(self) -> None:
        self._is_closed = True
        if self._idle is not None:
            self._idle.cancel()
        self._current = None
        for chromium in [*self._counts]:
            self._end(chromium)
        await asyncio.gather(*self._tasks)

    async def _take(self) -> Chromium:
        async with self._starting:
            if self._is_closed:
                raise DownloadFailedError(CLOSING)
            if self._idle is not None:
                self._idle.cancel()
            current = self._current
            if current is None or not current.is_usable:
                self._current = None
                if current is not None and not self._counts[current]:
                    self._end(current)
                self._current = current = await self._start()
                if self._is_closed:  # meanwhile
                    self._end(current)
                    raise DownloadFailedError(CLOSING)
            self._counts[current] += 1
            return current

    async def _start(self) -> Chromium:
        chromium = await Chromium.start(self._config)
        self._counts[chromium] = 0
        return chromium

    def _give_back(self, chromium: Chromium) -> None:
        if chromium not in self._counts:
            return  # all are closed
        self._counts[chromium] -= 1
        if self._counts[chromium]:
            return
        if chromium is not self._current or not chromium.is_usable:
            self._end(chromium)
        else:
            loop = asyncio.get_running_loop()
            self._idle = loop.call_later(self._idle_s, self._end_idle)

    def _end_idle(self) -> None:
        current = self._current
        if current is not None and not self._counts[current] and not self._starting.locked():
            self._end(current)

    def _end(self, chromium: Chromium) -> None:
        del self._counts[chromium]
        if self._current is chromium:
            self._current = None
        self._spawn(chromium.close())

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
