"""Notices that the store was restarted, and has the pages under way worked on again.

A store that went back to an earlier state may have lost links that we do not pass on again, because
we have passed them on before. So the pages that had them are worked on again: those that are not
finished yet.
"""

import logging
from collections.abc import Callable

from weft.engine.claims.inhand import InHand
from weft.engine.claims.renewals import Renewals
from weft.frontier import Frontier

logger = logging.getLogger(__name__)


class Restarts:
    def __init__(
        self, frontier: Frontier, hand: InHand, renewals: Renewals, note: Callable[[], None]
    ) -> None:
        """`note` is called after a restart: there is something new to do."""
        self._frontier = frontier
        self._hand = hand
        self._renewals = renewals
        self._note = note
        self._noticed = frontier.restarts
        #: Claims that were not finished because the store was restarted.
        self.unfinished = 0
        #: Called when the frontier may have lost the latest changes.
        self.after_restart: Callable[[], None] = lambda: None

    @property
    def is_new(self) -> bool:
        """Whether the store was restarted, and `notice` has not been called since."""
        return self._frontier.restarts != self._noticed

    def notice(self) -> None:
        if not self.is_new:
            return
        self._noticed = self._frontier.restarts
        again = self._hand.spoil(is_ended_too=True) + self.unfinished
        self.unfinished = 0
        logger.warning(
            "the store was restarted and may have forgotten the last moments; "
            "%d requests that were in progress are fetched again",
            again,
        )
        self._renewals.doubt()
        self.after_restart()
        self._note()
