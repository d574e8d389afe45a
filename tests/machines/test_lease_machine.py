"""Hypothesis drives several workers on one frontier, beside a model of who has what."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import hypothesis.strategies as st
import msgspec
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from effort import times
from launchers.redis import RedisServer
from weft.config import FrontierConfig, HostLimits, SharedConfig
from weft.frontier.base import Hold
from weft.frontier.redis import RedisFrontier
from weft.records import Claim
from weft.testing.clock import FakeClock
from weft.testing.frontier_contract import done, requests

WORKERS = ("one", "two", "three")
BUCKETS = 3
LEASE_MS = 100
CLAIM_MS = 1_000

SETTINGS = settings(
    max_examples=times(15, 150),
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking takes minutes on a server
)

names = st.sampled_from(WORKERS)
wanted_sets = st.sets(st.integers(0, BUCKETS - 1))


class Lease(NamedTuple):
    owner: str
    until_ms: int
    #: How many leases of the bucket there were before.
    number: int


class LeaseMachine(RuleBasedStateMachine):
    server: ClassVar[RedisServer]

    def __init__(self) -> None:
        super().__init__()
        self.server.ask("FLUSHALL")
        self.runner = asyncio.Runner()
        self.clock = FakeClock()
        config = FrontierConfig(
            limits=HostLimits(concurrency=1_000),
            claim_ms=CLAIM_MS,
            shared=SharedConfig(buckets=BUCKETS),
        )
        self.frontiers = {
            name: RedisFrontier(self.server.url, "machine", config, self.clock) for name in WORKERS
        }
        for frontier in self.frontiers.values():
            self.runner.run(frontier.__aenter__())
        self.layout = self.frontiers["one"]._buckets.layout
        # What is true.
        self.queued: set[str] = set()
        self.claims: dict[int, Claim] = {}
        self.done: set[str] = set()
        self.due_ms: dict[int, int] = {}
        self.leases: dict[int, Lease] = {}
        self.lease_counts = [0] * BUCKETS
        self.numbers: list[list[int]] = [[] for _ in range(BUCKETS)]
        self.stale = 0
        # What each worker believes: the numbers of its leases, its claims. And all that it ever
        # claimed, so that stale tokens come up too.
        self.has: dict[str, dict[int, int]] = {name: {} for name in WORKERS}
        self.leaving: dict[str, set[int]] = {name: set() for name in WORKERS}
        self.knows: dict[str, set[int]] = {name: set() for name in WORKERS}
        self.ever: dict[str, list[Claim]] = {name: [] for name in WORKERS}
        self.may_be_refused: dict[str, bool] = dict.fromkeys(WORKERS, False)

    def bucket_of(self, claim: Claim) -> int:
        return self.layout.bucket_of(claim.request.host).number

    @initialize()
    def start(self) -> None:
        """Before its first `hold` a frontier serves all buckets."""
        for name in WORKERS:
            self.hold(name, set(), may_evict=True)

    @rule(number=st.integers(0, 20), count=st.integers(1, 5))
    def add(self, number: int, count: int) -> None:
        new = requests(count, f"host-{number}")
        self.runner.run(self.frontiers["one"].add(new))
        known = self.queued | self.done | {claim.request.url for claim in self.claims.values()}
        self.queued |= {request.url for request in new} - known

    @rule(ms=st.sampled_from([1, 49, 50, 100, 600]))
    def wait(self, ms: int) -> None:
        self.clock.advance(ms)

    # Leases

    @rule(name=names, wanted=wanted_sets, may_evict=st.booleans())
    def hold(self, name: str, wanted: set[int], may_evict: bool) -> None:
        hold = self.runner.run(self._hold(name, wanted, may_evict))
        self.note_hold(name, wanted, may_evict, hold)

    async def _hold(self, name: str, wanted: set[int], may_evict: bool) -> Hold:
        return await self.frontiers[name].hold(
            name, wanted, lease_ms=LEASE_MS, may_evict=may_evict, sharers=1
        )

    def note_hold(self, name: str, wanted: set[int], may_evict: bool, hold: Hold) -> None:
        has = self.has[name]
        busy = {self.bucket_of(claim) for claim in self.ever[name] if self.is_known(name, claim)}
        for bucket in has.keys() - wanted - busy:
            del has[bucket]
            if self.is_holder(name, bucket):
                del self.leases[bucket]
        lost = []
        for bucket in {*wanted, *has}:
            before = has.pop(bucket, None)
            if bucket in wanted or self.is_holder(name, bucket):
                self.keep_or_take(name, bucket, may_evict)
            if self.is_holder(name, bucket):
                has[bucket] = self.leases[bucket].number
            lost.append(before is not None and before != has.get(bucket))
        self.leaving[name] = has.keys() - wanted
        assert hold.buckets == sorted(has)
        assert hold.leaving == sorted(self.leaving[name])
        assert hold.is_lost == any(lost) or (hold.is_lost and self.may_be_refused[name])
        self.may_be_refused[name] = False

    def keep_or_take(self, name: str, bucket: int, may_evict: bool) -> None:
        until_ms = self.clock.now_ms() + LEASE_MS
        lease = self.leases.get(bucket)
        if lease and lease.owner == name:
            self.leases[bucket] = lease._replace(until_ms=until_ms)
        elif lease is None or (may_evict and lease.until_ms <= self.clock.now_ms()):
            self.lease_counts[bucket] += 1
            self.leases[bucket] = Lease(name, until_ms, self.lease_counts[bucket])
            of_others = [claim for claim in self.claims.values() if self.bucket_of(claim) == bucket]
            assert all(claim.owner != name for claim in of_others)
            self.put_back(of_others)

    def is_holder(self, name: str, bucket: int) -> bool:
        return bucket in self.leases and self.leases[bucket].owner == name

    def is_valid(self, name: str, bucket: int) -> bool:
        """Whether the lease that a worker believes to have is one."""
        if not self.is_holder(name, bucket):
            return False
        _, until_ms, number = self.leases[bucket]
        return number == self.has[name][bucket] and until_ms > self.clock.now_ms()

    def is_known(self, name: str, claim: Claim) -> bool:
        return claim.token in self.knows[name]

    # Claims

    @rule(name=names, limit=st.sampled_from([1, 2, 100]))
    def claim(self, name: str, limit: int) -> None:
        claims = self.runner.run(self.frontiers[name].claim(name, limit)).claims
        self.note_claims(name, claims)

    @rule(name=names, wanted=wanted_sets, may_evict=st.booleans())
    def claim_while_own(self, name: str, wanted: set[int], may_evict: bool) -> None:
        async def both() -> tuple[list[Claim], Hold]:
            claiming = self.frontiers[name].claim(name, 2)
            claimed, hold = await asyncio.gather(claiming, self._hold(name, wanted, may_evict))
            return claimed.claims, hold

        claims, hold = self.runner.run(both())
        self.note_claims(name, claims)
        self.note_hold(name, wanted, may_evict, hold)

    def note_claims(self, name: str, claims: Sequence[Claim]) -> None:
        now_ms = self.clock.now_ms()
        served = self.has[name].keys() - self.leaving[name]
        valid = {bucket for bucket in served if self.is_valid(name, bucket)}
        self.may_be_refused[name] |= served != valid
        for claim in claims:
            assert self.bucket_of(claim) in valid
            self.queued.remove(claim.request.url)  # it was queued, and is handed out once
            self.claims[claim.token] = claim
            self.due_ms[claim.token] = now_ms + CLAIM_MS
            self.knows[name].add(claim.token)
            self.ever[name].append(claim)

    @rule(name=names, data=st.data())
    def finish(self, name: str, data: st.DataObject) -> None:
        for claim in self.end("finish", name, data):
            self.done.add(claim.request.url)

    @rule(name=names, data=st.data())
    def release(self, name: str, data: st.DataObject) -> None:
        self.queued |= {claim.request.url for claim in self.end("release", name, data)}

    @rule(name=names, data=st.data())
    def renew(self, name: str, data: st.DataObject) -> None:
        renewed = self.ask("renew", name, data)
        for claim in renewed:
            self.due_ms[claim.token] = self.clock.now_ms() + CLAIM_MS
        # What it does not name it does not know of.
        own = [claim for claim in self.claims.values() if claim.owner == name]
        self.put_back([claim for claim in own if self.ever[name] and claim not in renewed])

    def end(self, verb: str, name: str, data: st.DataObject) -> list[Claim]:
        ended = self.ask(verb, name, data)
        for claim in ended:
            del self.claims[claim.token]
            self.knows[name].discard(claim.token)
        return ended

    def ask(self, verb: str, name: str, data: st.DataObject) -> list[Claim]:
        """Those of some claims of a worker that were accepted; it hears which were not."""
        if not self.ever[name]:
            return []
        chosen = data.draw(st.lists(st.sampled_from(self.ever[name]), max_size=4, unique=True))
        frontier = self.frontiers[name]
        tokens = [claim.token for claim in chosen]
        calls = {
            "finish": lambda: frontier.finish(done(chosen)),
            "release": lambda: frontier.release(tokens),
            "renew": lambda: frontier.renew(name, tokens),
        }
        answers = self.runner.run(calls[verb]())
        assert answers == [claim.token in self.claims for claim in chosen]
        accepted = [claim for claim in chosen if claim.token in self.claims]
        assert all(self.is_holder(name, self.bucket_of(claim)) for claim in accepted)
        self.knows[name] -= {claim.token for claim in chosen} - self.claims.keys()
        self.stale += len(chosen) - len(accepted)
        return accepted

    @rule(name=names)
    def reclaim(self, name: str) -> None:
        now_ms = self.clock.now_ms()
        overdue = [claim for token, claim in self.claims.items() if self.due_ms[token] <= now_ms]
        assert self.runner.run(self.frontiers[name].reclaim()) == len(overdue)
        self.put_back(overdue)

    def put_back(self, claims: Sequence[Claim]) -> None:
        for claim in claims:
            del self.claims[claim.token]
            self.queued.add(claim.request.url)

    # What always holds

    @invariant()
    def each_request_is_in_one_place(self) -> None:
        stats = self.runner.run(self.frontiers["one"].stats())
        counts = (stats.queued, stats.claimed, stats.done, stats.stale)
        assert counts == (len(self.queued), len(self.claims), len(self.done), self.stale)
        assert stats.added == len(self.queued) + len(self.claims) + len(self.done)

    @invariant()
    def each_bucket_has_one_holder(self) -> None:
        client = self.frontiers["one"]._client
        keys = [f"{bucket.prefix}lease" for bucket in self.layout.buckets]
        found = self.runner.run(client.run([("HGETALL", key) for key in keys]))
        leases: dict[int, list[Lease]] = defaultdict(list)
        for bucket, holders in enumerate(found):
            for owner, packed in holders.items():
                number, until_ms, _ = msgspec.msgpack.decode(packed, type=tuple[int, int, int])
                leases[bucket].append(Lease(owner.decode(), until_ms, self.count(bucket, number)))
        assert leases == {bucket: [lease] for bucket, lease in self.leases.items()}

    def count(self, bucket: int, number: int) -> int:
        """Which lease of the bucket, from 1, has this number; numbers grow."""
        numbers = self.numbers[bucket]
        if number not in numbers:
            assert not numbers or number > numbers[-1]
            numbers.append(number)
        return numbers.index(number) + 1

    def teardown(self) -> None:
        try:
            self.drain()
        finally:
            for frontier in self.frontiers.values():
                self.runner.run(frontier.__aexit__())
            self.runner.close()

    def drain(self) -> None:
        """In the end, one takes over everything and gets all that is left."""
        self.clock.advance(10 * CLAIM_MS)
        self.hold("one", set(range(BUCKETS)), may_evict=True)
        self.reclaim("one")
        self.claim("one", 10_000)
        assert not self.queued


@pytest.mark.timeout(120)
def test_workers_never_share_a_bucket_and_never_lose_a_request(redis_server: RedisServer) -> None:
    class Machine(LeaseMachine):
        server = redis_server

    run_state_machine_as_test(Machine, settings=SETTINGS)
