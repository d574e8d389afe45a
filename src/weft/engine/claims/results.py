"""The results of this run so far: pages, failures, refusals."""

from collections import Counter

from weft.engine.claims.buffer import Buffer
from weft.engine.claims.delivery import Delivery
from weft.engine.claims.finisher import Finisher
from weft.engine.claims.outcome import Fate
from weft.records import Ending


class Results:
    def __init__(self, buffer: Buffer, finisher: Finisher, delivery: Delivery) -> None:
        self._buffer = buffer
        self._finisher = finisher
        self._delivery = delivery
        #: Pages that were fetched and handled.
        self.pages = 0
        #: What failed, by kind.
        self.failures: Counter[str] = Counter()
        #: Requests that a rule refused.
        self.refused = 0

    def end(self, fate: Fate) -> None:
        """Scrapy is done with a request: finish its claim, unless it is part of another."""
        outcome = fate.outcome()
        self.pages += fate.is_page
        self.refused += outcome.ending is Ending.DROPPED
        if outcome.ending is Ending.FAILED:
            self.note_failed(fate.failure)
        if not fate.is_kept:
            self._buffer.put_outcome(outcome, fate.complete)

    def note_failed(self, kind: str) -> None:
        self.failures[kind] += 1

    def accepted(self) -> tuple[int, int]:
        """Pages and items, without those that will be fetched again."""
        pages = self.pages - self._finisher.repeated_pages
        items = self._delivery.items - self._finisher.repeated_items
        return max(0, pages), max(0, items)
