"""Stores what a round takes: items and raw pages with the delivery, links in the frontier."""

import asyncio
from collections.abc import Callable, Sequence

from weft.engine.claims import pace
from weft.engine.claims.delivery import Delivery
from weft.engine.claims.renewals import Renewals
from weft.engine.politeness.hostkeys import HostKeys
from weft.frontier import Frontier
from weft.records import AddStatus, PackedRequest
from weft.sinks import KeyedItem
from weft.sinks.archive import RawPage


class Storing:
    def __init__(
        self,
        frontier: Frontier,
        delivery: Delivery,
        keys: HostKeys,
        renewals: Renewals,
        *,
        claim_soon: Callable[[], None],
        now_s: Callable[[], float],
    ) -> None:
        self._frontier = frontier
        self._delivery = delivery
        self._keys = keys
        self._renewals = renewals
        self._claim_soon = claim_soon
        self._now_s = now_s
        #: Links that the frontier knew already.
        self.known = 0
        #: Called with links and what the frontier did with each.
        self.after_add: Callable[[Sequence[PackedRequest], Sequence[AddStatus]], None] = (
            lambda links, statuses: None
        )

    async def store(self, items: Sequence[KeyedItem], pages: Sequence[RawPage]) -> None:
        """Keep the claims meanwhile: a sink may be down for a long time."""
        if not items and not pages:
            return
        delivery = asyncio.ensure_future(self._delivery.store(items, pages))
        try:
            while not delivery.done():
                await asyncio.wait([delivery], timeout=self._renew_in_s())
                if not delivery.done():
                    await self._renewals.renew()
            delivery.result()
        finally:
            delivery.cancel()

    def _renew_in_s(self) -> float:
        left_s = self._renewals.due_at_s - self._now_s()
        return max(pace.ROUND_S, min(pace.IDLE_ROUND_S, left_s))

    async def add(self, links: list[PackedRequest]) -> None:
        if not links:
            return
        statuses = await self._frontier.add(await self._keys.keyed(links))
        self.known += statuses.count(AddStatus.KNOWN)
        self.after_add(links, statuses)
        self._claim_soon()
