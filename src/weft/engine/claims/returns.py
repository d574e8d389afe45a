"""Claims that are given back to the frontier: untouched, or to be worked on again.

Some wait here first: if a host has asked for a pause, the frontier must know of the pause before it
gets claims of that host back. Meanwhile they are renewed like all others.
"""

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

from weft.engine.claims.inhand import InHand
from weft.engine.claims.ready import Ready
from weft.frontier import Frontier
from weft.records import Claim


class Return(NamedTuple):
    """A claim to give back, and the earliest time to do so."""

    token: int
    at_s: float


class Returns:
    def __init__(
        self,
        frontier: Frontier,
        hand: InHand,
        ready: Ready,
        note: Callable[[], None],
        now_s: Callable[[], float],
    ) -> None:
        """`note` is called when claims are put back from outside the rounds."""
        self._frontier = frontier
        self._hand = hand
        self._ready = ready
        self._note = note
        self._now_s = now_s
        self._waiting: list[Return] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def put_back(self, claim: Claim, delay_s: float = 0.0) -> None:
        """Give back a claim in hand, so that it is worked on again after the delay."""
        token = claim.token
        self._hand.end(token)
        if self._hand.forget(token).is_in_our_name:
            self.put([token], delay_s)
        self._note()

    def put_back_host(self, host: str, delay_s: float) -> None:
        """Give back the claims that wait for this host, after the delay."""
        self.put([claim.token for claim in self._ready.take_host(host)], delay_s)
        self._note()

    def put(self, tokens: Iterable[int], delay_s: float = 0.0) -> None:
        """Give back claims that are neither in hand nor ready any more."""
        at_s = self._now_s() + delay_s
        self._waiting += [Return(token, at_s) for token in tokens]

    def tokens(self) -> list[int]:
        return [there.token for there in self._waiting]

    @property
    def next_at_s(self) -> float:
        return min((there.at_s for there in self._waiting), default=math.inf)

    async def release(self) -> bool:
        """Give back what is due. Returns whether anything was."""
        now_s = self._now_s()
        tokens = [there.token for there in self._waiting if there.at_s <= now_s]
        if tokens:
            self._waiting = [there for there in self._waiting if there.at_s > now_s]
            await self._frontier.release(tokens)
        return bool(tokens)
