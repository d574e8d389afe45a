"""The background task of a crawl, which works in rounds.

A round renews the claims when they are due and takes everything that was put into the buffer. Then
it stores the items and raw pages, adds the links, finishes the claims and makes new ones. So links,
items and pages are always safe before their claim is finished. If anything dies in between, the
claim is still open and will be worked on again.

Other workers may share the frontier. At least once a second a round checks what was queued, freed
or left over there.
"""

import asyncio
import logging
from collections.abc import Callable

from weft.clock import monotonic_s
from weft.engine.claims import pace
from weft.engine.claims.assembly import ClaimParts
from weft.errors import WeftError

logger = logging.getLogger(__name__)


class Rounds:
    def __init__(self, parts: ClaimParts, now_s: Callable[[], float] = monotonic_s) -> None:
        self._parts = parts
        self._now_s = now_s
        # The number of ended claims that the last round took.
        self._just_ended = 0
        self._is_stopped = False
        #: The error that stopped the rounds, if any.
        self.error: WeftError | None = None
        #: Called before each round, to put in what has ended.
        self.before_round: Callable[[], None] = lambda: None
        #: Called after each round: there may be claims to take.
        self.after_round: Callable[[], None] = lambda: None

    async def run(self) -> None:
        """Work in rounds until stopped, or until a store fails."""
        try:
            while not self._is_stopped:
                await self._round()
                await asyncio.sleep(self._pause_s())
                await self._parts.activity.wait(self._idle_s())
        except WeftError as error:
            self.give_up(error)
        except Exception as problem:  # a bug in Weft must end the crawl, not leave it waiting
            logger.exception("the rounds failed")
            self.give_up(WeftError(f"the rounds failed: {problem!r}"))

    def give_up(self, error: WeftError) -> None:
        """Serve nothing more: a store has failed for good."""
        self.error = error
        self._parts.supply.close()
        self._parts.renewals.give_up()
        self.after_round()

    def stop(self) -> None:
        """Stop `run` after the current round."""
        self._is_stopped = True
        self._parts.supply.close()
        self._parts.activity.wake()

    async def flush(self) -> None:
        """Store everything that was put in and give back what was not taken. Called last."""
        await self._round()
        ready = self._parts.ready.take_all()
        self._parts.returns.put(claim.token for claim in ready)
        await self._give_back()
        await self._parts.settling.look()

    async def _round(self) -> None:
        """The order is the point: what a page brought is safe before its claim is finished."""
        parts = self._parts
        parts.activity.begin_round()
        await parts.renewals.renew()
        self.before_round()
        links, items, pages, ended = parts.buffer.take_all()
        self._just_ended = len(ended)
        await parts.storing.store(items, pages)
        await parts.storing.add(links)
        parts.restarts.notice()
        await parts.finisher.finish(ended)
        await self._give_back()
        parts.restarts.notice()
        await parts.claimer.reclaim(is_idle=parts.settling.is_idle())
        await parts.claimer.claim()
        parts.restarts.notice()
        await parts.settling.check()
        self.after_round()

    async def _give_back(self) -> None:
        self._parts.returns.put(self._parts.supply.take_unwanted())
        if await self._parts.returns.release():
            self._parts.claimer.claim_soon()

    def _pause_s(self) -> float:
        """Shorter if what is ready might be used up before the next round."""
        enough = max(pace.MIN_READY, len(self._parts.hand), 2 * self._just_ended)
        return pace.EASY_ROUND_S if len(self._parts.ready) >= enough else pace.ROUND_S

    def _idle_s(self) -> float:
        """How long to wait if there is no work."""
        parts = self._parts
        next_at_s = min(parts.renewals.due_at_s, parts.returns.next_at_s, parts.claimer.next_at_s)
        return min(pace.IDLE_ROUND_S, max(0.0, next_at_s - self._now_s()))
