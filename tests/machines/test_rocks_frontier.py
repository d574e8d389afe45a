"""Hypothesis drives a Rocks frontier and the specification side by side: they never differ."""

import asyncio
import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from weft.config import FrontierConfig, HostLimits
from weft.frontier import MemoryFrontier, RocksFrontier
from weft.records import Claim, Ending, Order, Outcome, PackedRequest, PageKind
from weft.testing.clock import FakeClock

HOSTS = ("a", "b", "c.example")

packed = st.builds(
    lambda number, host, kind, priority, is_forced, dropped_by: PackedRequest(
        fingerprint=number * 10 + HOSTS.index(host),
        url=f"http://{host}/{number}",
        host=host,
        kind=kind,
        priority=priority,
        is_forced=is_forced,
        dropped_by=dropped_by,
        found_on=number // 2,
        url_fingerprint=number * 10 + 9 if number % 5 == 0 else 0,
    ),
    number=st.integers(0, 15),
    host=st.sampled_from(HOSTS),
    kind=st.sampled_from(PageKind),
    priority=st.integers(-2, 2),
    is_forced=st.sampled_from([False, False, False, True]),
    dropped_by=st.sampled_from(["", "", "", "", "depth"]),
)

limits = st.builds(HostLimits, delay_ms=st.sampled_from([0, 0, 50]), concurrency=st.integers(1, 4))


class RocksMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.path = Path(tempfile.mkdtemp(prefix="weft-machine-"))
        self.claims: list[Claim] = []

    @initialize(order=st.sampled_from(Order), everyone=limits, single=limits)
    def start(self, order: Order, everyone: HostLimits, single: HostLimits) -> None:
        self.clock = FakeClock()
        self.config = FrontierConfig(
            order=order,
            limits=everyone,
            limits_by_host={"b": single},
            claim_ms=1_000,
            backoff_ms=20,
            max_backoff_ms=100,
            max_pause_ms=200,
            bad_url_ms=300,
            bad_host_ms=150,
        )
        self.model = MemoryFrontier(self.config, self.clock, random.Random(7))
        self.rocks_rng = random.Random(7)
        self.open_rocks()

    def open_rocks(self) -> None:
        self.rocks = RocksFrontier(self.path, self.config, self.clock, self.rocks_rng)
        self.runner.run(self.rocks.__aenter__())

    def both(self, verb: str, *args: Any) -> Any:
        model = self.runner.run(getattr(self.model, verb)(*args))
        rocks = self.runner.run(getattr(self.rocks, verb)(*args))
        assert rocks == model
        return model

    @rule(requests=st.lists(packed, max_size=12))
    def add(self, requests: list[PackedRequest]) -> None:
        self.both("add", requests)

    @rule(limit=st.integers(0, 7))
    def claim(self, limit: int) -> None:
        self.claims += self.both("claim", "me", limit).claims

    @precondition(lambda self: self.claims)
    @rule(data=st.data())
    def finish(self, data: st.DataObject) -> None:
        # Claims stay in the list, so that stale tokens come up too.
        chosen = data.draw(st.lists(st.sampled_from(self.claims), max_size=4))
        outcomes = [
            Outcome(
                token=claim.token,
                ending=data.draw(st.sampled_from(Ending)),
                status=data.draw(st.sampled_from([0, 200, 404, 429, 503])),
                retry_after_ms=data.draw(st.sampled_from([0, 0, 30, 10_000])),
                crawl_delay_ms=data.draw(st.sampled_from([0, 0, 0, 40])),
                is_host_bad=data.draw(st.sampled_from([False, False, False, True])),
                note=data.draw(st.sampled_from(["", "ü"])),
            )
            for claim in chosen
        ]
        self.both("finish", outcomes)

    @precondition(lambda self: self.claims)
    @rule(data=st.data(), verb=st.sampled_from(["release", "renew"]))
    def hand_over(self, data: st.DataObject, verb: str) -> None:
        chosen = data.draw(st.lists(st.sampled_from(self.claims), max_size=4))
        self.both(verb, [claim.token for claim in chosen])

    @rule()
    def reclaim(self) -> None:
        self.both("reclaim")

    @rule(ms=st.sampled_from([1, 10, 49, 50, 150, 300, 1_000]))
    def wait(self, ms: int) -> None:
        self.clock.advance(ms)

    @rule(kind=st.sampled_from([None, *PageKind]))
    def clear(self, kind: PageKind | None) -> None:
        self.both("clear", kind)

    @rule()
    def reopen(self) -> None:
        """What is open when the store is opened again is put back, as by a reclaim of all."""
        self.runner.run(self.rocks.__aexit__())
        self.open_rocks()
        self.model.reclaim_all()

    @rule(number=st.integers(0, 15), host=st.sampled_from(HOSTS))
    def explain(self, number: int, host: str) -> None:
        self.both("explain", [number * 10 + HOSTS.index(host), number * 10 + 9])

    @invariant()
    def they_agree(self) -> None:
        if hasattr(self, "model"):
            stats = self.both("stats")
            assert stats.queued >= stats.held >= 0
            assert stats.claimed >= 0
            self.both("hosts", 99)

    def teardown(self) -> None:
        if hasattr(self, "rocks"):
            self.runner.run(self.rocks.__aexit__())
        self.runner.close()
        shutil.rmtree(self.path, ignore_errors=True)


TestRocksMachine = RocksMachine.TestCase
TestRocksMachine.settings = settings(max_examples=50, stateful_step_count=40, deadline=None)
pytestmark = pytest.mark.timeout(600)  # a failure takes minutes to be made small
