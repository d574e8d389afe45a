"""Pages that are to be visited again, and when.

A callback says so while it works on the page, but how soon may depend on how many of the page's
links were new, and only the frontier knows that. So it leaves a plan, which is asked when the claim
is finished: by then the links of the page have been added.
"""

import logging
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec
from scrapy import Request

from weft.engine.claims.fates import Fates
from weft.engine.claims.outcome import Fate
from weft.engine.requests.intake import kind_of
from weft.engine.requests.pack import Packer
from weft.errors import PackError
from weft.records import AddStatus, Claim, Outcome, PackedRequest, PageKind

logger = logging.getLogger(__name__)


class Revisit(NamedTuple):
    """When a page is due again, and the request of that visit."""

    due_in_s: float
    request: Request


#: Called with the number of new data pages that the page led to.
Plan = Callable[[int], Revisit]


class Revisits:
    def __init__(self, fates: Fates, packer: Packer) -> None:
        self._fates = fates
        self._packer = packer
        # New links of the pages that have a plan, by the fingerprint of the page.
        self._new: dict[int, int] = {}

    def plan(self, request: Request, plan: Plan) -> None:
        """Visit the page of this request again. To be called before its links are yielded."""
        if fate := self._fates.get(request):
            self._new[fate.claim.request.fingerprint] = 0
            fate.complete = lambda outcome: self._complete(fate, plan, outcome)

    def note_added(self, links: Sequence[PackedRequest], statuses: Sequence[AddStatus]) -> None:
        """What the frontier said about links."""
        if not self._new:
            return
        for link, status in zip(links, statuses, strict=True):
            is_new = status is AddStatus.QUEUED and link.kind is PageKind.DATA
            if is_new and link.found_on in self._new:
                self._new[link.found_on] += 1

    def _complete(self, fate: Fate, plan: Plan, outcome: Outcome) -> Outcome:
        claim = fate.claim
        new = self._new.pop(claim.request.fingerprint, 0)
        due_in_s, request = plan(new)
        return msgspec.structs.replace(
            outcome, due_in_ms=round(1000 * due_in_s), again=self._pack(claim, request)
        )

    def _pack(self, claim: Claim, request: Request) -> PackedRequest | None:
        try:
            return msgspec.structs.replace(
                claim.request,
                kind=kind_of(request),
                priority=request.priority,
                payload=self._packer.pack(request),
                is_forced=False,
            )
        except PackError as error:  # the visit is made as the last one was
            logger.error("%s", error)
            return None
