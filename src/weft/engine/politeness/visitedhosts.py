"""The hosts where this worker takes turns, and what is known about each."""

import asyncio
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

#: News that nobody waits for is reported within this time.
LAZY_S = 0.25
#: The pause before asking for a turn again doubles, from the first to the longest.
FIRST_PAUSE_S = 0.01
LONGEST_PAUSE_S = 0.1


@dataclass(slots=True)
class VisitedHost:
    """What is known about a host where turns are taken."""

    #: Side requests that wait for a turn.
    side_waiting: int = 0
    #: The first in line needs a turn, and the delay of its host is already over.
    is_asking: bool = False
    #: Unused turns, and until when they are valid.
    turns: int = 0
    turns_until_s: float = -math.inf
    #: Requests that took a turn and are under way.
    under_way: int = 0
    #: The sharing that we follow; 0: none.
    sharing: int = 0
    #: How often we heard that it is shared, since we last heard that it is not.
    calls: int = 0
    #: To be reported with the next visit.
    status: int = 0
    retry_after_ms: int = 0
    crawl_delay_ms: int = 0
    #: When to visit it, whatever happens.
    visit_at_s: float = math.inf
    #: When it may be worth asking for turns.
    ask_at_s: float = -math.inf
    pause_s: float = FIRST_PAUSE_S
    news: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_shared(self) -> bool:
        return self.sharing > 0 or self.calls > 0

    def at_hand(self, now_s: float) -> int:
        """Unused turns that are still valid."""
        return self.turns if now_s < self.turns_until_s else 0

    def back_off(self, now_s: float, *, has_turn: bool) -> None:
        """Ask for the next turn after a pause."""
        if has_turn:
            self.pause_s = FIRST_PAUSE_S
        self.ask_at_s = now_s + self.pause_s
        self.pause_s = min(2 * self.pause_s, LONGEST_PAUSE_S)


class VisitedHosts:
    def __init__(self, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self._hosts: dict[str, VisitedHost] = {}
        #: Hosts whose claims take turns too.
        self.shared: set[str] = set()
        #: There is something to report or to ask.
        self.work = asyncio.Event()

    def __getitem__(self, host: str) -> VisitedHost:
        return self._hosts.setdefault(host, VisitedHost())

    def __iter__(self) -> Iterator[str]:
        return iter([*self._hosts])

    def forget(self, host: str) -> None:
        del self._hosts[host]

    def tell(self, known: VisitedHost, *, is_urgent: bool = False) -> None:
        """Visit the host: something has changed. If it is ours alone, that is not urgent."""
        lazy_s = 0.0 if is_urgent or known.is_shared else LAZY_S
        known.visit_at_s = min(known.visit_at_s, self._now_s() + lazy_s)
        self.work.set()
