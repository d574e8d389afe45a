"""The claims of this worker: what waits to be sent, what is in hand, and how sure it is of them.

A claim that is not renewed in time is given to another worker, and the one that had it may be the
last to hear of it: it was stopped, or its machine slept, or the store was away. So a worker counts
for itself, from the moment at which it *asked* for the last renewal: until then its claims were
surely its own, and a claim that it got later has a later deadline. When that time is over it sends
nothing before a renewal has told which claims it still has.
"""

import math
from collections.abc import Callable, Sequence

from weft.engine.ready import Ready
from weft.records import Claim

#: Renewals in the time of a claim.
RENEWALS = 3
#: Share of the time of a claim that is not counted on: clocks differ, and sending takes a while.
MARGIN = 0.1


class Holding:
    def __init__(
        self, concurrency_of: Callable[[str], int], claim_s: float, now_s: Callable[[], float]
    ) -> None:
        self._claim_s = claim_s
        self._now_s = now_s
        self._sure_until_s = -math.inf
        self._in_hand: dict[int, Claim] = {}
        # No longer in hand, but not finished either: a sink may still have to take their items.
        self._ended: set[int] = set()
        # Of those that are, or were, in hand: what another has by now, and what is to be given
        # back instead of being finished.
        self._lost: set[int] = set()
        self._spoilt: set[int] = set()
        self.ready = Ready(concurrency_of)
        self.renew_at_s = -math.inf

    @property
    def in_hand(self) -> int:
        return len(self._in_hand)

    def __len__(self) -> int:
        return len(self._in_hand) + len(self.ready)

    def take(self) -> Claim | None:
        """The next claim to send; it is in hand then."""
        claim = self.ready.take()
        if claim is not None:
            self._in_hand[claim.token] = claim
        return claim

    def end(self, token: int) -> Claim:
        """No longer in hand; to be renewed until `forget`."""
        claim = self._in_hand.pop(token)
        self._ended.add(token)
        return claim

    # How sure they are

    @property
    def is_sure(self) -> bool:
        """Whether nobody else can have been given our claims yet."""
        return self._now_s() < self._sure_until_s

    def doubt(self) -> None:
        """Be sure of nothing until the next renewal."""
        self._sure_until_s = self.renew_at_s = -math.inf

    def tokens(self) -> list[int]:
        """What has to be renewed."""
        held = (*self._in_hand, *self._ended, *self.ready.tokens())
        return [token for token in held if not self.is_lost(token)]

    def note_renewed(
        self, asked_at_s: float, tokens: Sequence[int], answers: Sequence[bool]
    ) -> int:
        """What a renewal of `tokens` has told; the number of claims that are lost."""
        lost = {token for token, is_ours in zip(tokens, answers, strict=True) if not is_ours}
        self._lost.update(lost & (self._in_hand.keys() | self._ended))
        self.ready.discard(lost)
        self.renew_at_s = asked_at_s + self._claim_s / RENEWALS
        self._sure_until_s = asked_at_s + self._claim_s * (1 - MARGIN)
        return len(lost)

    # What must not be finished

    def is_ours(self, claim: Claim) -> bool:
        """Whether a claim in hand is to be worked on and finished, as far as we know."""
        return not self.is_lost(claim.token) and not self.is_spoilt(claim.token)

    def is_lost(self, token: int) -> bool:
        return token in self._lost

    def is_spoilt(self, token: int) -> bool:
        return token in self._spoilt

    def spoil(self) -> int:
        """Give back all that is not finished yet instead of finishing it; how many."""
        self._spoilt.update(self._in_hand, self._ended)
        return len(self._spoilt)

    def spoil_in_hand(self) -> None:
        """The same for what has not ended yet."""
        self._spoilt.update(self._in_hand)

    def forget(self, token: int) -> None:
        self._ended.discard(token)
        self._lost.discard(token)
        self._spoilt.discard(token)
