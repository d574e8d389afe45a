"""Serves requests to Scrapy: claims from the frontier, and requests that are kept in memory."""

import asyncio
import logging
from collections import Counter

from scrapy import Request, Spider

from weft.engine.claims.fates import Fates
from weft.engine.claims.inhand import InHand
from weft.engine.claims.outcome import Fate
from weft.engine.claims.results import Results
from weft.engine.claims.returns import Returns
from weft.engine.claims.supply import Supply
from weft.engine.requests.kept import KEPT, KeptRequests, KeptStarts
from weft.engine.requests.pack import Packer
from weft.errors import PackError
from weft.records import Claim

logger = logging.getLogger(__name__)

#: How long to wait for `start` to come to a request that this process has claimed.
START_S = 1.0


class RequestSource:
    def __init__(
        self,
        supply: Supply,
        hand: InHand,
        returns: Returns,
        kept: KeptRequests,
        starts: KeptStarts,
        packer: Packer,
        fates: Fates,
        results: Results,
        *,
        max_pages: int,
        spider: Spider,
        counts: Counter[str],
    ) -> None:
        """`max_pages`: 0 if there is no limit."""
        self._supply = supply
        self._hand = hand
        self._returns = returns
        self._kept = kept
        self._starts = starts
        self._packer = packer
        self._fates = fates
        self._results = results
        self._max_pages = max_pages
        self._spider = spider
        self._counts = counts
        #: Set when Scrapy has its first request.
        self.has_served = asyncio.Event()

    def next(self) -> Request | None:
        """The next request for Scrapy, or None if there is none now."""
        if self._has_enough_pages():
            return None
        if self._kept.can_take and self._supply.may_take and (taken := self._kept.take()):
            return self._begin(*taken)
        claim = self._supply.take()
        if claim is None:
            return None
        try:
            request = self._request_of(claim)
        except PackError as error:
            self._fail(claim, error)
            return None
        return self._begin(request, Fate(claim)) if request else None

    def _has_enough_pages(self) -> bool:
        return 0 < self._max_pages <= self._results.pages + len(self._hand)

    def _begin(self, request: Request, fate: Fate) -> Request:
        self._fates.begin(request, fate)
        self._counts["scheduler/dequeued"] += 1
        self.has_served.set()
        return request

    def _request_of(self, claim: Claim) -> Request | None:
        packed = claim.request
        if packed.payload != KEPT:
            return self._packer.unpack(packed.url, packed.priority, packed.payload)
        request = self._starts.find(packed)
        if request is None:
            self._supply.downloaded(packed.host)
            self._returns.put_back(claim, START_S)
        return request

    def _fail(self, claim: Claim, error: PackError) -> None:
        logger.error("%s", error, extra={"spider": self._spider})
        self._supply.downloaded(claim.request.host)
        self._results.end(Fate(claim, error=error))
