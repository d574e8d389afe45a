"""What the tests of all topics share: the backend, and its clock."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, ClassVar

import pytest

from weft.clock import Clock
from weft.config import FrontierConfig, HostLimits
from weft.frontier.base import FrontierBackend
from weft.testing.clock import FakeClock


class FrontierSuite:
    """The backend under test: what it can do, and how it is opened."""

    #: State outlives the object: after closing and opening, it is still there.
    SURVIVES_REOPEN: ClassVar[bool] = True
    #: Claims of a closed frontier go back to their queues when it is opened.
    RECLAIMS_AT_OPEN: ClassVar[bool] = True
    #: All hosts wait in one line; otherwise each bucket has its own.
    HAS_ONE_LINE: ClassVar[bool] = True

    clock: FakeClock

    @pytest.fixture(autouse=True)
    def _fresh_clock(self) -> None:
        self.clock = FakeClock()

    def make(self, config: FrontierConfig, clock: Clock, rng: random.Random) -> FrontierBackend:
        raise NotImplementedError

    @asynccontextmanager
    async def opened(self, **config: Any) -> AsyncIterator[FrontierBackend]:
        config.setdefault("limits", HostLimits(concurrency=1_000_000))
        frontier = self.make(FrontierConfig(**config), self.clock, random.Random(1))
        async with frontier:
            yield frontier
