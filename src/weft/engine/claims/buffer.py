"""The buffer between Scrapy, which never waits, and the stores, which may be slow.

Links, items, raw pages and outcomes are put in here, and the next round takes all of them, see
`Rounds`. The results of a claim are put in before its outcome, so a round that takes the outcome
has its results, too.
"""

from collections.abc import Callable
from typing import NamedTuple

from weft.engine.claims.inhand import InHand
from weft.records import Claim, Outcome, PackedRequest
from weft.sinks import KeyedItem
from weft.sinks.archive import RawPage

#: With more links than this waiting for the frontier, no more requests are served.
MAX_LINKS = 20_000
#: The same for raw pages that wait for the archives.
MAX_PAGES_BYTES = 64_000_000


class Ended(NamedTuple):
    claim: Claim
    outcome: Outcome
    #: Adds what is known only once the links of the page have been added.
    complete: Callable[[Outcome], Outcome] | None = None


class RoundInput(NamedTuple):
    """What one round stores, adds and finishes."""

    links: list[PackedRequest]
    items: list[KeyedItem]
    pages: list[RawPage]
    ended: list[Ended]


class Buffer:
    def __init__(self, hand: InHand, note: Callable[[], None]) -> None:
        """`note` is called whenever something is put in."""
        self._hand = hand
        self._note = note
        self._links: list[PackedRequest] = []
        self._items: list[KeyedItem] = []
        self._pages: list[RawPage] = []
        self._pages_bytes = 0
        self._ended: list[Ended] = []

    def put_link(self, request: PackedRequest) -> None:
        self._links.append(request)
        self._note()

    def put_item(self, item: KeyedItem) -> None:
        self._items.append(item)
        self._note()

    def put_page(self, page: RawPage) -> None:
        self._pages.append(page)
        self._pages_bytes += len(page.body)
        self._note()

    def put_outcome(
        self, outcome: Outcome, complete: Callable[[Outcome], Outcome] | None = None
    ) -> None:
        """The claim is then no longer in hand."""
        self._ended.append(Ended(self._hand.end(outcome.token), outcome, complete))
        self._note()

    def take_all(self) -> RoundInput:
        taken = RoundInput(self._links, self._items, self._pages, self._ended)
        self._links, self._items, self._pages, self._ended = [], [], [], []
        self._pages_bytes = 0
        return taken

    @property
    def is_empty(self) -> bool:
        return not (self._links or self._items or self._pages or self._ended)

    @property
    def is_full(self) -> bool:
        """Whether so much waits here that no more should be fetched."""
        return len(self._links) > MAX_LINKS or self._pages_bytes > MAX_PAGES_BYTES
