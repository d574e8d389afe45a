"""Renews the claims of this worker, and knows how sure it may be of them.

A claim that is not renewed in time is given to another worker, and its previous owner may be the
last to know: it was stopped, or its machine slept, or the store was away. So a worker keeps a time
limit of its own, counted from the moment when it *asked* for the last renewal. At that moment its
claims were surely its own, and a claim that it got later has a later deadline. After the limit it
sends nothing until a renewal has shown which claims it still has.
"""

import asyncio
import logging
import math
from collections.abc import Callable
from contextlib import suppress

from weft.engine.claims.inhand import InHand
from weft.engine.claims.leasetime import LeaseTime
from weft.engine.claims.ready import Ready
from weft.engine.claims.returns import Returns
from weft.frontier import Frontier

logger = logging.getLogger(__name__)

#: Renewals in the lifetime of a claim.
RENEWALS = 3
#: Share of a claim's lifetime kept as a margin: clocks differ, and sending takes time.
MARGIN = 0.1


class Renewals:
    def __init__(
        self,
        frontier: Frontier,
        hand: InHand,
        ready: Ready,
        returns: Returns,
        *,
        owner: str,
        claim_s: float,
        leases: LeaseTime | None,
        wake: Callable[[], None],
        now_s: Callable[[], float],
    ) -> None:
        """`leases` is None if the frontier is ours alone; `wake` starts the next round."""
        self._frontier = frontier
        self._hand = hand
        self._ready = ready
        self._returns = returns
        self._owner = owner
        self._claim_s = claim_s
        self._leases = leases
        self._wake = wake
        self._now_s = now_s
        self._sure_until_s = -math.inf
        self._renewed = asyncio.Event()
        #: When to renew next.
        self.due_at_s = -math.inf
        #: There will be no more renewals: a store has failed.
        self.is_over = False

    @property
    def is_sure(self) -> bool:
        """False if others may have been given our claims; the next renewal ends the doubt."""
        is_sure = self._now_s() < self._sure_until_s
        return is_sure and (self._leases is None or self._leases.is_sure)

    def doubt(self) -> None:
        """Claims may have been given to others: renew them before anything is sent."""
        self._sure_until_s = self.due_at_s = -math.inf
        self._wake()

    async def wait(self, timeout_s: float) -> None:
        """Wait until the claims have been renewed, but no longer than this."""
        self._renewed.clear()
        self._wake()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._renewed.wait(), timeout_s)

    async def renew(self) -> None:
        """Renew three times per deadline, and before anything is sent if we may have missed one."""
        asked_at_s = self._now_s()
        if asked_at_s < min(self.due_at_s, self._sure_until_s):
            return
        if self._leases is not None and not self._leases.is_sure:
            return  # the leases come first: they show when claims are in doubt
        ready = (claim.token for claim in self._ready)
        tokens = [*self._hand.tokens(), *ready, *self._returns.tokens()]
        answers = await self._frontier.renew(self._owner, tokens)
        lost = {token for token, is_ours in zip(tokens, answers, strict=True) if not is_ours}
        self._hand.lose(lost)
        self._ready.discard(lost)
        self.due_at_s = asked_at_s + self._claim_s / RENEWALS
        self._sure_until_s = asked_at_s + self._claim_s * (1 - MARGIN)
        if lost:
            logger.warning(
                "%d claims are no longer this worker's: they were given to others, or a store that "
                "was restarted has forgotten them",
                len(lost),
            )
        self._renewed.set()

    def give_up(self) -> None:
        """A store has failed: nobody needs to wait any longer."""
        self.is_over = True
        self._renewed.set()
