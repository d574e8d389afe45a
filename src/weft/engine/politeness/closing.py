"""Stops a crawl: requests under way get a moment to finish, and are then cut off.

A page may take minutes to arrive, and nobody who presses Ctrl-C wants to wait for it. What is cut
off is not lost: its claim is given back, and fetched when the job continues.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from scrapy.exceptions import IgnoreRequest

Result = TypeVar("Result")


class Closing:
    def __init__(self, grace_s: float) -> None:
        self._grace_s = grace_s
        self._downloads: set[asyncio.Task[object]] = set()
        self._timer: asyncio.TimerHandle | None = None
        #: The moment is over: nothing more is sent.
        self.is_over = False
        #: Called when the moment is over.
        self.after_grace: Callable[[], object] = lambda: None

    def begin(self) -> None:
        """The crawl is being closed. May be called repeatedly."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._grace_s, self._end)

    def end(self) -> None:
        """Nothing is under way any more."""
        if self._timer is not None:
            self._timer.cancel()

    def _end(self) -> None:
        self.is_over = True
        self.after_grace()
        for task in [*self._downloads]:
            task.cancel()

    async def cut_short(self, download: Awaitable[Result]) -> Result:
        """Await a download. Raises IgnoreRequest if the crawl no longer waits for it."""
        task = asyncio.current_task()
        assert task is not None
        self._downloads.add(task)
        try:
            return await download
        except asyncio.CancelledError:
            if not self.is_over:
                raise
            task.uncancel()
            raise IgnoreRequest("the crawl is being closed") from None
        finally:
            self._downloads.discard(task)
