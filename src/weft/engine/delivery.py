"""Items on their way into the sinks: to all of them, and again while one of them is down. Raw pages
on their way into the archives.

A sink that cannot be reached holds the crawl back: `store` does not return before it has the items,
so their claims are not finished and no new ones are made. A crawl that finds it so does not begin
before it is back. What a sink refuses for good goes to the dead letters, and the crawl goes on.
"""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from typing import TypeVar

from weft.clock import monotonic_s
from weft.engine.settings import JobConfig
from weft.errors import SinkDownError
from weft.sinks import KeyedItem, Sink, make_sink
from weft.sinks.archive import Archive, Page, make_archive
from weft.sinks.deadletters import DeadLetters

#: Pauses between two attempts, which double.
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 15.0
#: How long a crawl that is told to stop waits for a sink that is down.
CLOSING_S = 10.0

#: What people are told of a sink that is down, before the crawl and while it runs.
BEFORE = "the crawl waits for it, and begins when it is there (Ctrl-C ends it)"
MEANWHILE = "the crawl waits for it, nothing is lost"

logger = logging.getLogger(__name__)

Result = TypeVar("Result")


class Delivery:
    """Has its sinks and archives open from `open` to `close`."""

    def __init__(
        self,
        sinks: Sequence[Sink],
        dead_letters: DeadLetters,
        archives: Sequence[Archive] = (),
    ) -> None:
        self._sinks = sinks
        self._archives = archives
        self._dead_letters = dead_letters
        self._opened = AsyncExitStack()
        self._is_hurried = asyncio.Event()
        self._give_up_at_s = math.inf
        #: Items that all sinks have, or have refused.
        self.items = 0
        #: How often a sink refused an item.
        self.refused = 0
        #: Pages that all archives have.
        self.pages = 0

    async def open(self, *, is_patient: bool = True) -> None:
        """Raises StoreError. A sink that is down is waited for, if we are patient."""
        self._opened.push_async_callback(self._dead_letters.close)
        if not is_patient:
            self._give_up_at_s = -math.inf
        for output in self._outputs():
            await self._insist(output.place, output.open, BEFORE)
            self._opened.push_async_callback(output.close)

    async def clear(self) -> None:
        """The crawl starts over."""
        for output in self._outputs():
            await self._insist(output.place, output.clear, BEFORE)
        await self._dead_letters.clear()

    async def end(self) -> None:
        """Close after a crawl that has run: what is written in the end is written, also of no
        items."""
        try:
            for sink in self._sinks:
                await sink.store(())
        finally:
            await self.close()

    async def close(self) -> None:
        await self._opened.aclose()

    def _outputs(self) -> list[Sink | Archive]:
        return [*self._sinks, *self._archives]

    async def store(self, items: Sequence[KeyedItem], pages: Sequence[Page] = ()) -> None:
        """Returns when all sinks and archives have them. Raises StoreError if that cannot be."""
        storing = [self._store(sink, items) for sink in self._sinks] if items else []
        archiving = [archive.store(pages) for archive in self._archives] if pages else []
        told = await asyncio.gather(*storing, *archiving, return_exceptions=True)
        for problem in told:
            if problem is not None:
                raise problem
        self.items += len(items)
        self.pages += len(pages)

    def hurry(self) -> None:
        """The crawl is being closed: do not wait much longer for a sink that is down."""
        if not self._is_hurried.is_set():
            self._give_up_at_s = monotonic_s() + CLOSING_S
            self._is_hurried.set()

    async def _store(self, sink: Sink, items: Sequence[KeyedItem]) -> None:
        refusals = await self._insist(sink.place, lambda: sink.store(items), MEANWHILE)
        if refusals:
            await self._dead_letters.put(sink.place, refusals)
            self.refused += len(refusals)
            logger.error(
                "%s refused %d items, the first because: %s; see %s",
                *(sink.place, len(refusals), refusals[0].reason, self._dead_letters.path),
            )

    async def _insist(self, place: str, call: Callable[[], Awaitable[Result]], told: str) -> Result:
        pause_s = FIRST_PAUSE_S
        while True:
            try:
                result = await call()
            except SinkDownError as problem:
                if monotonic_s() >= self._give_up_at_s:
                    raise
                if pause_s == FIRST_PAUSE_S:
                    logger.warning("%s; %s", problem, told)
            else:
                if pause_s != FIRST_PAUSE_S:
                    logger.warning("%s is back; the crawl goes on", place)
                return result
            await self._pause(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    async def _pause(self, pause_s: float) -> None:
        if self._is_hurried.is_set():
            await asyncio.sleep(FIRST_PAUSE_S)
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(self._is_hurried.wait(), pause_s)


def make_delivery(config: JobConfig) -> Delivery:
    """Not opened yet. Raises ConfigError for an output that cannot be."""
    return Delivery(
        [make_sink(each, config.sink) for each in config.sinks],
        DeadLetters(config.sink),
        [make_archive(each, config.sink) for each in config.archives],
    )
