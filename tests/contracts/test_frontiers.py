"""The frontier contract on every backend."""

import random

import pytest

from weft.clock import Clock
from weft.config import FrontierConfig
from weft.frontier import Frontier, MemoryFrontier, RocksFrontier
from weft.testing.frontier_contract import FrontierContract


class TestMemoryFrontier(FrontierContract):
    SURVIVES_REOPEN = False
    RECLAIMS_AT_OPEN = False

    def make(self, config: FrontierConfig, clock: Clock, rng: random.Random) -> Frontier:
        return MemoryFrontier(config, clock, rng)


class TestRocksFrontier(FrontierContract):
    @pytest.fixture(autouse=True)
    def _place(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        self.path = tmp_path_factory.mktemp("frontier")

    def make(self, config: FrontierConfig, clock: Clock, rng: random.Random) -> Frontier:
        return RocksFrontier(self.path, config, clock, rng)
