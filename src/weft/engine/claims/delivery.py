"""Delivers items to all sinks, retrying while one is down, and raw pages to the archives.

A sink that is down holds the crawl back: `store` does not return before the sink has the items, so
their claims are not finished and no new ones are made. If a sink is down at the start, the crawl
waits for it. Items that a sink refuses for good go to the dead letters, and the crawl continues.
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
from weft.sinks.archive import Archive, RawPage, make_archive
from weft.sinks.deadletters import DeadLetters
from weft.sinks.routed import CrawlSink, ItemRoute, RoutedSinks

#: The pause between two attempts doubles, from the first to the longest.
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 15.0
#: How long a crawl that is being stopped waits for a sink that is down.
CLOSING_S = 10.0

#: Log messages about a sink that is down, before the crawl and while it runs.
BEFORE = "the crawl waits for it, and begins when it is there (Ctrl-C ends it)"
MEANWHILE = "the crawl waits for it, nothing is lost"

logger = logging.getLogger(__name__)

Result = TypeVar("Result")


class Delivery:
    """Keeps its sinks and archives open from `open` to `close`."""

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
        #: Items that every sink has stored or refused.
        self.items = 0
        #: How often a sink refused an item.
        self.refused = 0
        #: Pages that every archive has stored.
        self.pages = 0

    async def open(self, *, is_patient: bool = True) -> None:
        """Raises StoreError. If `is_patient`, wait for a sink that is down."""
        self._opened.push_async_callback(self._dead_letters.close)
        if not is_patient:
            self._give_up_at_s = -math.inf
        for output in self._outputs():
            await self._insist(output.place, output.open, BEFORE)
            self._opened.push_async_callback(output.close)

    async def clear(self) -> None:
        """Clear all outputs, because the crawl starts over."""
        for output in self._outputs():
            await self._insist(output.place, output.clear, BEFORE)
        await self._dead_letters.clear()

    async def end(self) -> None:
        """Close after a crawl that has run. Sinks write their final output, even without items."""
        try:
            for sink in self._sinks:
                await sink.store(())
        finally:
            await self.close()

    async def close(self) -> None:
        await self._opened.aclose()

    def _outputs(self) -> list[Sink | Archive]:
        return [*self._sinks, *self._archives]

    async def store(self, items: Sequence[KeyedItem], pages: Sequence[RawPage] = ()) -> None:
        """Returns when all sinks and archives have stored them. Raises StoreError if one fails."""
        storing = [self._store(sink, items) for sink in self._sinks] if items else []
        archiving = [archive.store(pages) for archive in self._archives] if pages else []
        problems = await asyncio.gather(*storing, *archiving, return_exceptions=True)
        for problem in problems:
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

    async def _insist(self, place: str, call: Callable[[], Awaitable[Result]], then: str) -> Result:
        pause_s = FIRST_PAUSE_S
        while True:
            try:
                result = await call()
            except SinkDownError as problem:
                if monotonic_s() >= self._give_up_at_s:
                    raise
                if pause_s == FIRST_PAUSE_S:
                    logger.warning("%s; %s", problem, then)
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


def make_delivery(config: JobConfig, route: ItemRoute | None = None) -> Delivery:
    """Make a delivery that is not open yet. `route` says which items have sinks of their own.

    Raises ConfigError for an invalid output."""
    plain = [make_sink(each, config.sink) for each in config.sinks]
    return Delivery(
        _routed(config, plain, route) if route else plain,
        DeadLetters(config.sink),
        [make_archive(each, config.sink) for each in config.archives],
    )


def _routed(config: JobConfig, plain: Sequence[Sink], route: ItemRoute) -> list[Sink]:
    of_crawl = [
        CrawlSink(sink, address, route) for sink, address in zip(plain, config.sinks, strict=True)
    ]
    own = RoutedSinks(route, lambda address: make_sink(address, config.sink), config.sinks)
    return [*of_crawl, own]
