"""Where items and requests were found, from the moment they leave the spider."""

from collections import defaultdict, deque
from typing import Any, NamedTuple


class Position(NamedTuple):
    """Which item or request of which page; page 0 is the spider's `start`."""

    page: int
    number: int


class Positions:
    """The positions of the items that are in the pipelines, by identity."""

    def __init__(self) -> None:
        # An object yielded twice has two positions. It is kept, so that its id is not reused.
        self._positions: dict[int, deque[tuple[Position, Any]]] = defaultdict(deque)

    def put(self, item: Any, position: Position) -> None:
        self._positions[id(item)].append((position, item))

    def pop(self, item: Any) -> Position | None:
        waiting = self._positions.get(id(item))
        if not waiting:
            return None
        position, _ = waiting.popleft()
        if not waiting:
            del self._positions[id(item)]
        return position
