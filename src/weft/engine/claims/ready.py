"""Claims that wait to be sent: a queue for each host, served in turn.

A host has no more requests under way than its concurrency; claims beyond that wait here, so that
the next is ready the moment one ends.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Container, Iterator
from itertools import chain

from weft.records import Claim


class Ready:
    def __init__(self, concurrency_of: Callable[[str], int]) -> None:
        self._concurrency_of = concurrency_of
        self._waiting: dict[str, deque[Claim]] = defaultdict(deque)
        self._under_way: Counter[str] = Counter()
        # Hosts with a claim that waits and may be sent.
        self._line: deque[str] = deque()
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Claim]:
        return chain.from_iterable(self._waiting.values())

    @property
    def can_send(self) -> bool:
        """Whether there is something to take."""
        return bool(self._line)

    def put(self, claim: Claim) -> None:
        host = claim.request.host
        self._waiting[host].append(claim)
        self._size += 1
        if len(self._waiting[host]) == 1 and self._may_send(host):
            self._line.append(host)

    def take(self) -> Claim | None:
        """The next claim to send; its host then has one more under way."""
        if not self._line:
            return None
        host = self._line.popleft()
        claim = self._waiting[host].popleft()
        self._size -= 1
        self._under_way[host] += 1
        if not self._waiting[host]:
            del self._waiting[host]
        elif self._may_send(host):
            self._line.append(host)
        return claim

    def ended(self, host: str) -> None:
        """A request of this host is no longer under way."""
        could_send = self._may_send(host)
        self._under_way[host] -= 1
        if not self._under_way[host]:
            del self._under_way[host]
        if not could_send and host in self._waiting:
            self._line.append(host)

    def discard(self, tokens: Container[int]) -> None:
        """Forget these claims, if they wait here."""
        for host, waiting in [*self._waiting.items()]:
            kept = deque(claim for claim in waiting if claim.token not in tokens)
            self._size -= len(waiting) - len(kept)
            self._waiting[host] = kept
            if not kept:
                del self._waiting[host]
        self._line = deque(host for host in self._line if host in self._waiting)

    def take_host(self, host: str) -> list[Claim]:
        """Take all claims that wait for one host, to give them back."""
        claims = list(self._waiting.get(host, ()))
        self.discard({claim.token for claim in claims})
        return claims

    def take_all(self) -> list[Claim]:
        """Take all claims that wait, to give them back."""
        claims = list(self)
        self._waiting.clear()
        self._line.clear()
        self._size = 0
        return claims

    def _may_send(self, host: str) -> bool:
        return self._under_way[host] < self._concurrency_of(host)
