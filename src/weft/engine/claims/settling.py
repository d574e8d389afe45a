"""Finds out whether everything is done: here, in the frontier, and with all other workers."""

import math
from collections.abc import Callable

from weft.engine.claims.activity import Activity
from weft.engine.claims.again import Again
from weft.engine.claims.buffer import Buffer
from weft.engine.claims.inhand import InHand
from weft.engine.claims.ready import Ready
from weft.engine.claims.returns import Returns
from weft.frontier import Frontier
from weft.records import Stats

#: Shortest time between two reads of the counters, which the progress line shows, unless everything
#: may be done.
LOOK_S = 0.25


class Settling:
    def __init__(
        self,
        frontier: Frontier,
        activity: Activity,
        buffer: Buffer,
        ready: Ready,
        hand: InHand,
        returns: Returns,
        again: Again,
        now_s: Callable[[], float],
    ) -> None:
        self._frontier = frontier
        self._activity = activity
        self._buffer = buffer
        self._ready = ready
        self._hand = hand
        self._returns = returns
        self._again = again
        self._now_s = now_s
        self._looked_at_s = -math.inf
        #: Whether anything else is left to do here.
        self.is_busy: Callable[[], bool] = lambda: False
        #: The counters of the frontier when they were last read.
        self.stats = Stats()

    @property
    def ready(self) -> int:
        """How many claims wait here to be sent."""
        return len(self._ready)

    def is_idle(self) -> bool:
        """Whether there is nothing to do here."""
        has_claims = len(self._hand) or len(self._ready) or len(self._returns)
        return not has_claims and self._buffer.is_empty and not self.is_busy()

    async def check(self) -> None:
        """Check whether everything is done. If anything is put in during this round, it is not."""
        activity = self._activity
        now_s = self._now_s()
        is_news = activity.is_changed and self.is_idle()
        if not is_news and now_s < self._looked_at_s + LOOK_S:
            return
        self._looked_at_s = now_s
        if is_news:
            activity.is_changed = False
        is_done = await self._is_frontier_done() and self.is_idle()
        activity.is_settled = is_done and not self._again.is_watching

    async def _is_frontier_done(self) -> bool:
        await self.look()
        first = self.stats
        if first.pending or not self.is_idle():
            return False
        # A worker adds its links before it finishes their page. A single read may show one host
        # before the adding and another after the finishing, so read twice.
        await self.look()
        if self.stats.pending or self.stats.added != first.added:
            return False
        return not self.stats.waiting or not await self._is_any_page_late()

    async def _is_any_page_late(self) -> bool:
        """Whether a page still waits that this run visits: a worker that died may have the lease of
        its bucket."""
        due_in_ms = await self._frontier.next_due_in_ms()
        return due_in_ms is not None and -due_in_ms >= self._again.due_for_ms

    async def look(self) -> None:
        """Read the counters of the frontier."""
        self.stats = await self._frontier.stats()
