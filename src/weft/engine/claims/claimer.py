"""Claims requests from the frontier, so that some are always ready.

Other workers may share the frontier, and do not say what they leave there. So the claimer asks at
least once a second while it has too little, and takes back what is overdue.
"""

import logging
import math
from collections.abc import Callable, Sequence

from weft.engine.claims import pace
from weft.engine.claims.activity import Activity
from weft.engine.claims.again import Again
from weft.engine.claims.inhand import InHand
from weft.engine.claims.ready import Ready
from weft.engine.claims.renewals import RENEWALS, Renewals
from weft.engine.claims.supply import Supply
from weft.frontier import Frontier

logger = logging.getLogger(__name__)


class Claimer:
    def __init__(
        self,
        frontier: Frontier,
        ready: Ready,
        hand: InHand,
        supply: Supply,
        renewals: Renewals,
        activity: Activity,
        again: Again,
        *,
        owner: str,
        capacity: int,
        claim_s: float,
        now_s: Callable[[], float],
    ) -> None:
        """`capacity`: how many requests Scrapy may have under way."""
        self._frontier = frontier
        self._ready = ready
        self._hand = hand
        self._supply = supply
        self._renewals = renewals
        self._activity = activity
        self._again = again
        self._owner = owner
        self._capacity = capacity
        self._claim_s = claim_s
        self._now_s = now_s
        self._claim_at_s = -math.inf
        self._reclaimed_at_s = -math.inf
        #: Called with hosts that other workers send to as well, before their claims can be taken.
        self.after_shared: Callable[[Sequence[str]], None] = lambda hosts: None

    def claim_soon(self) -> None:
        """Claim in the next round: something has changed in the frontier."""
        self._claim_at_s = -math.inf

    @property
    def next_at_s(self) -> float:
        """When to claim next, if nothing changes."""
        return self._claim_at_s if self._wanted() > 0 else math.inf

    def _wanted(self) -> int:
        if not self._supply.is_open:
            return 0
        enough = self._capacity + max(self._capacity // 2, pace.MIN_READY)
        return enough - len(self._hand) - len(self._ready)

    async def claim(self) -> None:
        """Claim as many as are wanted, if there may be some."""
        if not self._supply.is_open:
            self.claim_soon()  # as soon as it is open again
            return
        wanted = self._wanted()
        if wanted <= 0 or self._now_s() < self._claim_at_s or not self._renewals.is_sure:
            return
        claimed = await self._frontier.claim(self._owner, wanted, due_for_ms=self._again.due_for_ms)
        if claimed.shared_hosts:
            self.after_shared(claimed.shared_hosts)
        for claim in claimed.claims:
            self._ready.put(claim)
        if claimed.claims:
            self._activity.is_settled = False
            self._activity.is_changed = True
        self._claim_at_s = self._now_s()
        if len(claimed.claims) < wanted:
            # There is nothing more for us now, but others may leave something at any time.
            next_in_ms = math.inf if claimed.next_in_ms is None else claimed.next_in_ms
            self._claim_at_s += min(next_in_ms / 1000, pace.IDLE_ROUND_S)

    async def reclaim(self, *, is_idle: bool) -> None:
        """Reclaim what others have left: now and then, or often if there is nothing else to do."""
        period_s = self._claim_s / RENEWALS
        if is_idle:
            period_s = min(period_s, pace.IDLE_ROUND_S)
        now_s = self._now_s()
        # If we were stopped ourselves, our own claims are renewed first.
        if now_s < self._reclaimed_at_s + period_s or not self._renewals.is_sure:
            return
        self._reclaimed_at_s = now_s
        if reclaimed := await self._frontier.reclaim():
            logger.warning("%d requests were left by a worker and are queued again", reclaimed)
            self.claim_soon()
