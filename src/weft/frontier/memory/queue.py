"""The requests of each host and page kind, and which of them is served next."""

import random
from collections import defaultdict, deque
from collections.abc import Iterator

from weft.records import Order, PackedRequest, PageKind


class MemoryQueue:
    def __init__(self, order: Order, rng: random.Random) -> None:
        self._order = order
        self._rng = rng
        # Priority → requests, the head on the left. Other orders have one level.
        self._levels: dict[int, deque[PackedRequest]] = defaultdict(deque)

    def push(self, request: PackedRequest) -> None:
        self._level_of(request).append(request)

    def push_back(self, request: PackedRequest) -> None:
        """To the head: it is the next to be served."""
        if self._order is Order.DFS:
            self.push(request)
        else:
            self._level_of(request).appendleft(request)

    def take(self) -> PackedRequest:
        """The next, which there must be."""
        priority = max(self._levels)
        level = self._levels[priority]
        request = self._take_from(level)
        if not level:
            del self._levels[priority]
        return request

    def __iter__(self) -> Iterator[PackedRequest]:
        """The highest level first, each from its head."""
        for priority in sorted(self._levels, reverse=True):
            yield from self._levels[priority]

    def _level_of(self, request: PackedRequest) -> deque[PackedRequest]:
        return self._levels[request.priority if self._order is Order.PRIORITY else 0]

    def _take_from(self, level: deque[PackedRequest]) -> PackedRequest:
        if self._order is Order.DFS:
            return level.pop()
        if self._order is Order.RANDOM:
            i = self._rng.randrange(len(level))
            level[0], level[i] = level[i], level[0]
        return level.popleft()


class MemoryQueues:
    def __init__(self, order: Order, rng: random.Random) -> None:
        self._order = order
        self._rng = rng
        self._queues: dict[tuple[str, PageKind], MemoryQueue] = {}

    def of(self, host: str, kind: PageKind) -> MemoryQueue:
        if (host, kind) not in self._queues:
            self._queues[host, kind] = MemoryQueue(self._order, self._rng)
        return self._queues[host, kind]

    def find(self, fingerprint: int) -> PackedRequest | None:
        queued = (request for place in sorted(self._queues) for request in self._queues[place])
        return next((r for r in queued if r.is_known_as(fingerprint)), None)

    def empty(self, host: str, kind: PageKind) -> list[PackedRequest]:
        """Forget a queue; what was in it."""
        return [*self._queues.pop((host, kind), ())]
