"""The state machine on every backend that keeps its state outside of the process."""

import random
import shutil
import tempfile
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest
from frontier_machine import FrontierMachine
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import precondition, rule, run_state_machine_as_test

from effort import times
from launchers.redis import RedisSentinel
from servers import Kit
from weft.config import FrontierConfig, SharedConfig
from weft.frontier import Frontier, RocksFrontier
from weft.frontier.redis import RedisFrontier
from weft.records import Order
from weft.testing.clock import FakeClock

pytestmark = pytest.mark.timeout(600)

SETTINGS = settings(
    max_examples=times(12, 200),
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking takes minutes on a server
)


class RocksMachine(FrontierMachine):
    def __init__(self) -> None:
        super().__init__()
        self.path = Path(tempfile.mkdtemp(prefix="weft-machine-"))
        self.rng = random.Random(7)

    def make(self, config: FrontierConfig, clock: FakeClock) -> Frontier:
        return RocksFrontier(self.path, config, clock, self.rng)

    def teardown(self) -> None:
        super().teardown()
        shutil.rmtree(self.path, ignore_errors=True)


def test_rocks_does_as_specified() -> None:
    run_state_machine_as_test(RocksMachine, settings=SETTINGS)


#: A server takes its time; all set-ups together do as many.
ON_SERVERS = settings(SETTINGS, max_examples=times(4, 60), stateful_step_count=30)


class RedisMachine(FrontierMachine):
    """One bucket: between buckets there is no order that could be compared."""

    ORDERS = (Order.BFS, Order.DFS, Order.PRIORITY)
    RECLAIMS_AT_OPEN = False
    KNOWS_FIRST_SIGHT = False

    kit: ClassVar[Kit]

    def make(self, config: FrontierConfig, clock: FakeClock) -> Frontier:
        shaped = msgspec.structs.replace(config, shared=SharedConfig(buckets=1))
        return RedisFrontier(self.kit.url, "machine", shaped, clock)

    def teardown(self) -> None:
        if hasattr(self, "frontier"):
            self.ask(self.frontier, "clear")
        super().teardown()


def test_redis_does_as_specified(setup: Kit) -> None:
    class Machine(RedisMachine):
        kit = setup

    run_state_machine_as_test(Machine, settings=ON_SERVERS)


class BlocksMachine(RedisMachine):
    """Pages that wait are put into blocks at once; they are opened somewhat before they are due."""

    def check_next_in(self, got: int | None, model: int | None) -> None:
        assert (got is None) is (model is None)
        if got is not None and model is not None:
            assert got <= model


@pytest.mark.parametrize("setup", ["redis"], indirect=True)
def test_redis_does_as_specified_with_small_blocks(
    setup: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Machine(BlocksMachine):
        kit = setup

    sizes = {"waiting.ALONE_LEAST": 2, "waiting.ALONE_MOST": 2, "waiting.AT_LEAST": 1}
    sizes |= {"waiting.SMALL": 3, "waiting.SMALL_MOST": 1}
    sizes |= {"waitingpages.MOST": 4, "waitingpages.ENOUGH": 2, "waitingpages.LEAST": 1}
    for name, size in sizes.items():
        monkeypatch.setattr(f"weft.frontier.redis.{name}", size)
    run_state_machine_as_test(Machine, settings=settings(SETTINGS, max_examples=times(12, 200)))


class FailoverMachine(RedisMachine):
    """A failover is nothing that the specification knows of: it must not be noticed."""

    #: Each takes two seconds, and Hypothesis likes to do the same again and again.
    MOST = 4

    def __init__(self) -> None:
        super().__init__()
        self.failovers = 0

    @precondition(lambda self: self.failovers < self.MOST)
    @rule()
    def fail_over(self) -> None:
        self.failovers += 1
        assert isinstance(self.kit, RedisSentinel)
        self.kit.wait_for_replica()
        self.kit.fail_over()


@pytest.mark.parametrize("setup", ["sentinel"], indirect=True)
def test_redis_does_as_specified_through_failovers(setup: Kit) -> None:
    class Machine(FailoverMachine):
        kit = setup

    few = settings(SETTINGS, max_examples=times(2, 10), stateful_step_count=25)
    run_state_machine_as_test(Machine, settings=few)
