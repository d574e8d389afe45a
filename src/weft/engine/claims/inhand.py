"""The claims that Scrapy has in hand, and which of them must not be finished.

A claim is in hand from the moment Scrapy takes it until Scrapy is done with its page. It remains
ours to renew until the frontier has been asked to finish it: a sink may still have to take its
items, or requests that are kept as part of it may be left. Meanwhile another worker may be given
the claim (it is *lost*), or the store may forget what its page brought (it is *spoilt*), or even
the claim itself (it is both).
"""

from collections.abc import Set as AbstractSet
from enum import Enum, auto

from weft.records import Claim


class Validity(Enum):
    """What may be done with a claim."""

    #: It may be finished.
    VALID = auto()
    #: Another worker has it by now.
    LOST = auto()
    #: It must be given back instead of finished.
    SPOILT = auto()
    #: A store that was restarted does not know it any more: its request waits in its queue again.
    FORGOTTEN = auto()

    @property
    def is_in_our_name(self) -> bool:
        """Whether the frontier has it as ours, so that it can be given back."""
        return self in (Validity.VALID, Validity.SPOILT)


class InHand:
    def __init__(self) -> None:
        self._claims: dict[int, Claim] = {}
        # Those that are no longer in hand, but not finished yet.
        self._ended: set[int] = set()
        # Some of those above.
        self._lost: set[int] = set()
        self._spoilt: set[int] = set()

    def __len__(self) -> int:
        """The number of claims in hand, without those that have ended."""
        return len(self._claims) - len(self._ended)

    def put(self, claim: Claim) -> None:
        """Scrapy takes this claim."""
        self._claims[claim.token] = claim

    def end(self, token: int) -> Claim:
        """The claim is no longer in hand, but is renewed until `forget`. Further calls only return
        it."""
        self._ended.add(token)
        return self._claims[token]

    def forget(self, token: int) -> Validity:
        """The claim, which has ended, is about to be finished or given back. Returns which of the
        two is allowed, if either."""
        self._ended.discard(token)
        self._claims.pop(token, None)
        is_spoilt = token in self._spoilt
        is_lost = token in self._lost
        self._spoilt.discard(token)
        self._lost.discard(token)
        if is_lost:
            return Validity.FORGOTTEN if is_spoilt else Validity.LOST
        return Validity.SPOILT if is_spoilt else Validity.VALID

    def tokens(self) -> list[int]:
        """The claims to renew."""
        return [token for token in self._claims if token not in self._lost]

    def is_ours(self, claim: Claim) -> bool:
        """Whether we should work on a claim in hand and finish it, as far as we know."""
        return claim.token not in self._lost and claim.token not in self._spoilt

    def lose(self, tokens: AbstractSet[int]) -> None:
        """Other workers have these claims, some of which may be in hand."""
        self._lost.update(tokens & self._claims.keys())

    def spoil(self, *, is_ended_too: bool) -> int:
        """Give back the claims in hand instead of finishing them, and those that have ended, too,
        if asked to. Returns how many are spoilt now."""
        self._spoilt.update(self._claims.keys() - (set() if is_ended_too else self._ended))
        return len(self._spoilt)
