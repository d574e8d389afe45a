"""What Scrapy's engine still has in its hands.

Scrapy has no signal for "this request is completely done". Its engine keeps a set of the requests
that are in progress: from the moment one leaves the scheduler until its items have gone through the
pipelines. Only this module reads it, or wakes the engine with its `nextcall`.
"""

from collections.abc import Iterable

from scrapy import Request
from scrapy.crawler import Crawler

from weft.errors import EngineError


class InProgress:
    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    def check(self) -> None:
        """Raises EngineError if this Scrapy does not have what is needed here."""
        slot = getattr(self._crawler.engine, "_slot", None)
        is_known = isinstance(getattr(slot, "inprogress", None), set)
        if not is_known or not callable(getattr(getattr(slot, "nextcall", None), "schedule", None)):
            raise EngineError(
                "this version of Scrapy does not say which requests are in progress; "
                "install the Scrapy version that this Weft was made for"
            )

    def let_go(self, requests: Iterable[Request]) -> list[Request]:
        """Those of these requests that Scrapy is completely done with."""
        slot = self._crawler.engine._slot
        if slot is None:
            return list(requests)
        return [request for request in requests if request not in slot.inprogress]

    @property
    def is_closing(self) -> bool:
        """Whether Scrapy is closing, and only waits for what is in progress."""
        slot = self._crawler.engine._slot
        return slot is None or slot.closing is not None

    def wake_engine(self) -> None:
        """Make the engine ask the scheduler again."""
        slot = self._crawler.engine._slot
        if slot is not None and slot.closing is None:
            slot.nextcall.schedule()
