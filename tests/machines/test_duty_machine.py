"""Hypothesis drives several masters that want one duty, beside a model of who has it."""

import asyncio
from itertools import count
from typing import ClassVar, NamedTuple

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from effort import times
from launchers.redis import RedisServer
from weft.cluster.duties import Duties
from weft.redis import keys
from weft.redis.client import Client
from weft.testing.clock import FakeClock

DUTY = "schedules"
LEASE_MS = 100
PLACES = range(3)

SETTINGS = settings(
    max_examples=times(20, 200),
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking takes minutes on a server
)


class Holding(NamedTuple):
    owner: str
    token: int
    until_ms: int


class DutyMachine(RuleBasedStateMachine):
    server: ClassVar[RedisServer]

    def __init__(self) -> None:
        super().__init__()
        self.server.ask("FLUSHALL")
        self.runner = asyncio.Runner()
        self.clock = FakeClock()
        self.client = Client(self.server.url)
        self.runner.run(self.client.__aenter__())
        self.names = count(1)
        self.masters = [self.new_master() for _ in PLACES]
        # What is true: who has the duty, and all leases that there were, with their owners.
        self.holding: Holding | None = None
        self.leases: list[tuple[str, int]] = []

    def new_master(self) -> str:
        return f"master-{next(self.names)}"

    def duties(self, owner: str) -> Duties:
        return Duties(self.client, owner, self.clock)

    @rule(ms=st.sampled_from([1, 49, 50, 100, 600]))
    def wait(self, ms: int) -> None:
        self.clock.advance(ms)

    @rule(place=st.sampled_from(PLACES))
    def die(self, place: int) -> None:
        """It gives nothing up; another process takes its place."""
        self.masters[place] = self.new_master()

    @rule(place=st.sampled_from(PLACES))
    def take(self, place: int) -> None:
        owner = self.masters[place]
        token = self.runner.run(self.duties(owner).take(DUTY, LEASE_MS))
        until_ms = self.clock.now_ms() + LEASE_MS
        if self.holding and self.holding.owner == owner:
            assert token == self.holding.token
            self.holding = self.holding._replace(until_ms=until_ms)
        elif self.holding and self.holding.until_ms > self.clock.now_ms():
            assert token is None
        else:
            assert token is not None
            assert all(token > before for _, before in self.leases)
            self.leases.append((owner, token))
            self.holding = Holding(owner, token, until_ms)

    @rule(data=st.data())
    def keep(self, data: st.DataObject) -> None:
        """With any token that there ever was: that of a late holder too."""
        if not self.leases:
            return
        owner, token = data.draw(st.sampled_from(self.leases))
        is_kept = self.runner.run(self.duties(owner).keep(DUTY, token, LEASE_MS))
        assert is_kept is self.is_held_by(owner, token)
        if self.holding and is_kept:
            self.holding = self.holding._replace(until_ms=self.clock.now_ms() + LEASE_MS)

    @rule(data=st.data())
    def give_up(self, data: st.DataObject) -> None:
        if not self.leases:
            return
        owner, token = data.draw(st.sampled_from(self.leases))
        self.runner.run(self.duties(owner).give_up(DUTY, token))
        if self.is_held_by(owner, token):
            self.holding = None

    def is_held_by(self, owner: str, token: int) -> bool:
        return self.holding is not None and self.holding[:2] == (owner, token)

    @invariant()
    def one_at_a_time_has_it(self) -> None:
        holder = self.runner.run(self.duties("people").holder(DUTY))
        if self.holding is None:
            assert holder is None
            return
        assert holder is not None
        assert (holder.owner, holder.token) == self.holding[:2]
        assert holder.left_ms == max(0, self.holding.until_ms - self.clock.now_ms())
        assert self.server.ask("HLEN", f"{keys.duty_prefix(DUTY)}lease") == 1

    def teardown(self) -> None:
        self.runner.run(self.client.__aexit__())
        self.runner.close()


@pytest.mark.timeout(120)
def test_a_duty_never_has_two_masters(redis_server: RedisServer) -> None:
    class Machine(DutyMachine):
        server = redis_server

    run_state_machine_as_test(Machine, settings=SETTINGS)
