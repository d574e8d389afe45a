"""Serves claims to Scrapy, as long as they may be sent.

The scheduler asks here for the next claim and never waits. A claim in hand is checked once more
right before it is sent: by then it may have been given to another worker.
"""

from collections.abc import Callable, Sequence

from weft.engine.claims.activity import Activity
from weft.engine.claims.buffer import Buffer
from weft.engine.claims.inhand import InHand
from weft.engine.claims.ready import Ready
from weft.engine.claims.renewals import Renewals
from weft.records import Claim


class Supply:
    def __init__(
        self,
        ready: Ready,
        hand: InHand,
        buffer: Buffer,
        renewals: Renewals,
        activity: Activity,
        leaving: Callable[[Sequence[int]], list[int]] | None,
    ) -> None:
        """`leaving` returns those of some claims whose buckets go to another worker; it is None if
        the frontier is ours alone."""
        self._ready = ready
        self._hand = hand
        self._buffer = buffer
        self._renewals = renewals
        self._activity = activity
        self._wake = activity.wake
        self._leaving = leaving
        self._is_paused = False
        self._is_closed = False
        #: Claims are made and taken: the supply is neither paused nor closed.
        self.is_open = True

    def take(self) -> Claim | None:
        """The next claim to send, if one is ready; it is then in hand until its outcome."""
        claim = self._ready.take() if self.may_take else None
        if claim is None:
            self._wake()
        else:
            self._hand.put(claim)
        return claim

    @property
    def may_take(self) -> bool:
        """Whether requests may be served now."""
        return self.is_open and not self._buffer.is_full and self._renewals.is_sure

    def may_send(self, claim: Claim | None) -> bool:
        """The last check before a request goes out; `claim` is None for a side request."""
        return self._renewals.is_sure and (claim is None or self._is_wanted(claim))

    def _is_wanted(self, claim: Claim) -> bool:
        """Whether we should still send a claim in hand."""
        is_leaving = self._leaving is not None and self._leaving([claim.token])
        return self._hand.is_ours(claim) and not is_leaving and not self._is_paused

    def downloaded(self, host: str) -> None:
        """A request of this host is no longer under way."""
        self._ready.ended(host)
        self._wake()

    def pause(self, *, is_paused: bool) -> None:
        """Send nothing more and give back what is ready, or resume. Requests under way are
        finished."""
        if is_paused != self._is_paused:
            self._is_paused = is_paused
            self.is_open = not is_paused and not self._is_closed
            self._activity.note()

    def close(self) -> None:
        """Take and claim no more."""
        self._is_closed = True
        self.is_open = False

    def take_unwanted(self) -> list[int]:
        """Take the ready claims that we must not send: the crawl is paused, or their buckets go to
        another worker."""
        if self._is_paused:
            return [claim.token for claim in self._ready.take_all()]
        if self._leaving is None:
            return []
        tokens = self._leaving([claim.token for claim in self._ready])
        if tokens:
            self._ready.discard(set(tokens))
        return tokens
