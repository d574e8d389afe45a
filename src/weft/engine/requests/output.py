"""Gives what a page yields its position on the page."""

from typing import Any

from scrapy import Request

from weft.engine.claims.fates import Fates
from weft.engine.claims.outcome import Given
from weft.engine.requests.intake import Intake
from weft.engine.requests.positions import Position, Positions


class OutputCounter:
    """Items and requests of a page are counted separately.

    They may come in several parts: what a middleware yields for an exception comes after the rest.
    """

    def __init__(
        self, intake: Intake, positions: Positions, fates: Fates, request: Request | None
    ) -> None:
        """`request`: the one for the page."""
        fate = fates.get(request) if request else None
        self._intake = intake
        self._positions = positions
        self._given = fate.given if fate else Given()
        self._page = intake.page_of(request) if request else 0

    def mark(self, thing: Any) -> None:
        if isinstance(thing, Request):
            self._intake.found_at[thing] = Position(self._page, self._given.requests)
            self._given.requests += 1
        elif thing is not None:
            self._positions.put(thing, Position(self._page, self._given.items))
            self._given.items += 1
