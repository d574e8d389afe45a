"""Where items and requests were found, from the moment they leave the spider."""

from collections import defaultdict, deque
from typing import Any, NamedTuple


class Place(NamedTuple):
    """Which one of which page; page 0 is the spider's `start`."""

    page: int
    number: int


class Places:
    """The places of the items that are in the pipelines, by identity."""

    def __init__(self) -> None:
        # An object that is yielded twice has two places. It is kept, so that its id stays its own.
        self._places: dict[int, deque[tuple[Place, Any]]] = defaultdict(deque)

    def put(self, item: Any, place: Place) -> None:
        self._places[id(item)].append((place, item))

    def pop(self, item: Any) -> Place | None:
        waiting = self._places.get(id(item))
        if not waiting:
            return None
        place, _ = waiting.popleft()
        if not waiting:
            del self._places[id(item)]
        return place
