"""Items on their way into the sinks: to all of them, and again while one of them is down.

A sink that cannot be reached holds the crawl back: `store` does not return before it has the items,
so their claims are not finished and no new ones are made. What a sink refuses for good goes to the
dead letters, and the crawl goes on.
"""

import asyncio
import logging
import math
from collections.abc import Sequence
from contextlib import suppress

from weft.clock import monotonic_s
from weft.errors import SinkDownError
from weft.sinks import KeyedItem, Refusal, Sink
from weft.sinks.deadletters import DeadLetters

#: Pauses between two attempts, which double.
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 15.0
#: How long a crawl that is told to stop waits for a sink that is down.
CLOSING_S = 10.0

logger = logging.getLogger(__name__)


class Delivery:
    def __init__(self, sinks: Sequence[Sink], dead_letters: DeadLetters) -> None:
        self._sinks = sinks
        self._dead_letters = dead_letters
        self._is_hurried = asyncio.Event()
        self._give_up_at_s = math.inf
        #: Items that all sinks have, or have refused.
        self.items = 0
        #: How often a sink refused an item.
        self.refused = 0

    async def store(self, items: Sequence[KeyedItem]) -> None:
        """Returns when all sinks have them. Raises StoreError if that cannot be."""
        told = await asyncio.gather(
            *(self._store(sink, items) for sink in self._sinks), return_exceptions=True
        )
        for problem in told:
            if problem is not None:
                raise problem
        self.items += len(items)

    def hurry(self) -> None:
        """The crawl is being closed: do not wait much longer for a sink that is down."""
        if not self._is_hurried.is_set():
            self._give_up_at_s = monotonic_s() + CLOSING_S
            self._is_hurried.set()

    async def _store(self, sink: Sink, items: Sequence[KeyedItem]) -> None:
        refusals = await self._insist(sink, items)
        if refusals:
            await self._dead_letters.put(sink.place, refusals)
            self.refused += len(refusals)
            logger.error(
                "%s refused %d items, the first because: %s; see %s",
                *(sink.place, len(refusals), refusals[0].reason, self._dead_letters.path),
            )

    async def _insist(self, sink: Sink, items: Sequence[KeyedItem]) -> Sequence[Refusal]:
        pause_s = FIRST_PAUSE_S
        while True:
            try:
                refusals = await sink.store(items)
            except SinkDownError as problem:
                if monotonic_s() >= self._give_up_at_s:
                    raise
                if pause_s == FIRST_PAUSE_S:
                    logger.warning("%s; the crawl waits for it, nothing is lost", problem)
            else:
                if pause_s != FIRST_PAUSE_S:
                    logger.warning("%s is back; the crawl goes on", sink.place)
                return refusals
            await self._pause(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    async def _pause(self, pause_s: float) -> None:
        if self._is_hurried.is_set():
            await asyncio.sleep(FIRST_PAUSE_S)
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(self._is_hurried.wait(), pause_s)
