"""Pages that are visited again, until they are due."""

from typing import NamedTuple

from weft.frontier import policy
from weft.records import Outcome, PackedRequest, PageKind


class _Place(NamedTuple):
    """In this order they come back."""

    due_at_ms: int
    fingerprint: int
    #: Of the claim that ended: a request that was forced may wait besides another for its page.
    token: int


class MemoryWaiting:
    def __init__(self) -> None:
        self._pages: dict[_Place, PackedRequest] = {}
        self._at_once: list[PackedRequest] = []

    def __len__(self) -> int:
        return len(self._pages)

    @property
    def next_at_ms(self) -> int:
        """When the next is due; 0: nothing waits."""
        return min(self._pages).due_at_ms if self._pages else 0

    def put(self, request: PackedRequest, due_at_ms: int, outcome: Outcome) -> None:
        if policy.is_due_at_once(outcome):
            self._at_once.append(request)
        else:
            self._pages[_Place(due_at_ms, request.fingerprint, outcome.token)] = request

    def take_at_once(self) -> list[PackedRequest]:
        """Those that do not wait."""
        pages, self._at_once = sorted(self._at_once, key=lambda page: page.fingerprint), []
        return pages

    def take_due(self, now_ms: int) -> list[PackedRequest]:
        """Those that are due, up to `WAKE_MOST`."""
        due = sorted(place for place in self._pages if place.due_at_ms <= now_ms)
        return [self._pages.pop(place) for place in due[: policy.WAKE_MOST]]

    def find(self, fingerprint: int) -> tuple[int, PackedRequest | None]:
        """When a page is due, and its request."""
        for place in sorted(self._pages):
            if self._pages[place].is_known_as(fingerprint):
                return place.due_at_ms, self._pages[place]
        return 0, None

    def forget(self, kind: PageKind) -> None:
        self._pages = {at: page for at, page in self._pages.items() if page.kind is not kind}
