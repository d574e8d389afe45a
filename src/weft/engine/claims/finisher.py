"""Finishes claims in the frontier, but only those that are still ours.

An outcome may come too late: its claim was given to another worker, whose result counts. And a
claim that is spoilt is given back instead.
"""

import logging
from collections.abc import Callable, Sequence, Set

import msgspec

from weft.engine.claims.buffer import Ended
from weft.engine.claims.inhand import InHand, Validity
from weft.engine.claims.restarts import Restarts
from weft.engine.claims.returns import Returns
from weft.frontier import Frontier
from weft.records import Claim, Ending, Outcome

logger = logging.getLogger(__name__)


class Finisher:
    def __init__(
        self,
        frontier: Frontier,
        hand: InHand,
        returns: Returns,
        restarts: Restarts,
        *,
        claim_soon: Callable[[], None],
        sent_ago_ms: Callable[[str], int | None],
    ) -> None:
        """`sent_ago_ms` returns how long ago the last request was sent to a host."""
        self._frontier = frontier
        self._hand = hand
        self._returns = returns
        self._restarts = restarts
        self._claim_soon = claim_soon
        self._sent_ago_ms = sent_ago_ms
        #: Outcomes that were ignored because their claims had been given to others.
        self.late = 0
        #: Called with the tokens of claims that have ended, and those of them that are worked on
        #: again.
        self.after_finish: Callable[[Sequence[int], Set[int]], None] = lambda tokens, repeated: None
        #: Pages that were done here but are worked on again, and their items.
        self.repeated_pages = 0
        self.repeated_items = 0
        self._repeated: set[int] = set()

    async def finish(self, ended: Sequence[Ended]) -> None:
        late = 0
        outcomes = []
        self._repeated.clear()
        for claim, outcome, complete in ended:
            validity = self._hand.forget(claim.token)
            if validity is Validity.VALID:
                sent_ago_ms = self._sent_ago_ms(claim.request.host)
                told = msgspec.structs.replace(outcome, sent_ago_ms=sent_ago_ms)
                outcomes.append(complete(told) if complete else told)
                continue
            self._note_repeated(outcome)
            late += validity is Validity.LOST
            if validity.is_in_our_name:
                self._give_back(claim, outcome)
        if outcomes:
            late += await self._finish(outcomes)
        self.after_finish([claim.token for claim, _, _ in ended], self._repeated)
        self._note_late(late)

    def _give_back(self, claim: Claim, outcome: Outcome) -> None:
        # The frontier will not know when it was sent: wait for the delay of its host first.
        delay_ms = max(claim.delay_ms, outcome.crawl_delay_ms)
        self._returns.put([claim.token], delay_ms / 1000)

    async def _finish(self, outcomes: Sequence[Outcome]) -> int:
        """Returns how many came too late."""
        answers = await self._frontier.finish(outcomes)
        for outcome, is_finished in zip(outcomes, answers, strict=True):
            if not is_finished:
                self._note_repeated(outcome)
        self._claim_soon()
        refused = answers.count(False)
        if self._restarts.is_new:
            self._restarts.unfinished += refused
            return 0
        return refused

    def _note_repeated(self, outcome: Outcome) -> None:
        """The same page and items will come again, and only those count."""
        self._repeated.add(outcome.token)
        self.repeated_pages += outcome.ending is Ending.DONE
        self.repeated_items += outcome.items

    def _note_late(self, late: int) -> None:
        self.late += late
        if late:
            logger.warning("%d outcomes came too late: their claims had been given to others", late)
