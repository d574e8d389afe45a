"""The embedded frontier under `kill -9`: what it has answered is so, and nothing is half done."""

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rocksdict import AccessType, Rdict

import fetching
import nursery
from effort import times
from fetching import config, request
from weft.frontier import RocksFrontier
from weft.frontier.policy import HostRecord
from weft.frontier.rocks import layout
from weft.frontier.rocks.db import RocksDb
from weft.records import Order, PackedRequest, PageKind, Stats

ROUNDS = times(6, 15)
SEED = int(os.environ.get("WEFT_TEST_SEED") or random.randrange(2**32))


class Witness:
    """What is known about each request from what the victims have said."""

    def __init__(self) -> None:
        self.added: set[int] = set()
        self.finished: set[int] = set()
        #: Of the call that was under way: it has happened, or it has not.
        self.maybe_added: set[int] = set()
        self.maybe_finished: set[int] = set()

    @property
    def first(self) -> int:
        return max(self.added, default=-1) + 1

    def hear(self, lines: list[str]) -> None:
        said: list[list[Any]] = [json.loads(line) for line in lines]
        for call, answer in zip(said[::2], said[1::2], strict=False):
            assert answer == ["ok"]
            self._note(call, self.added, self.finished)
        if len(said) % 2:
            self._note(said[-1], self.maybe_added, self.maybe_finished)
            self.maybe_added -= self.added

    def _note(self, call: list[Any], added: set[int], finished: set[int]) -> None:
        word, *numbers = call
        if word == "add":
            added.update(numbers)
        elif word == "finish":
            finished.update(numbers)

    def settle(self, claimable: set[int], seen: set[int]) -> None:
        """See whether the call that was under way has happened, completely or not at all."""
        assert self.maybe_added & seen in (set(), self.maybe_added)
        assert self.maybe_finished & claimable in (set(), self.maybe_finished)
        self.added |= self.maybe_added & seen
        self.finished |= self.maybe_finished - claimable
        self.maybe_added, self.maybe_finished = set(), set()
        assert seen == self.added
        assert claimable == self.added - self.finished


def heard_before_kill(command: list[str], until: str, after_s: float) -> list[str]:
    """Start the victim, kill it some time after it said `until`; all that it has said of calls."""
    with nursery.Popen(command, stdout=subprocess.PIPE, text=True) as victim:
        assert victim.stdout is not None
        while victim.stdout.readline() != f"{until}\n":
            assert victim.poll() is None, "the victim died by itself"
        time.sleep(after_s)
        victim.kill()
        lines = victim.stdout.readlines()
    return [line for line in lines if line.endswith("\n") and line != "open\n"]


def walk(path: Path) -> tuple[Stats, Counter[int], set[int], dict[str, HostRecord]]:
    """Everything that the database holds: counters, queue, seen, hosts."""
    access = AccessType.read_only(False)
    rdict = Rdict(str(path), layout.rocks_options(), layout.family_options(), access)
    database = RocksDb(rdict)
    queued = Counter(
        msgspec.msgpack.decode(raw, type=PackedRequest).fingerprint
        for _, raw in database.walk(layout.QUEUE)
    )
    seen = {int.from_bytes(key, "big") for key, _ in database.walk(layout.SEEN)}
    hosts = {
        key.decode(): msgspec.msgpack.decode(raw, type=HostRecord)
        for key, raw in database.walk(layout.HOSTS)
    }
    assert not [*database.walk(layout.CLAIMS)]
    stats = database.meta().stats
    del database
    rdict.close()
    return stats, queued, seen, hosts


def assert_counters_agree(
    stats: Stats, queued: Counter[int], seen: set[int], hosts: dict[str, HostRecord]
) -> None:
    kinds = Counter(request(number).kind for number in queued)
    assert (stats.queued_nav, stats.queued_data) == (kinds[PageKind.NAV], kinds[PageKind.DATA])
    assert (stats.claimed, stats.held, stats.hosts) == (0, 0, len(hosts))
    assert stats.added == len(seen)
    assert stats.done + stats.replaced + stats.failed + stats.refused == len(seen) - len(queued)
    by_host = Counter(request(number).host for number in queued)
    assert {host: record.queued for host, record in hosts.items()} == {
        host: by_host[host] for host in hosts
    }
    assert not any(record.claimed for record in hosts.values())


async def look(path: Path, order: Order, sample: list[int]) -> set[int]:
    """Open the store as the next worker would; what can be claimed. It is released again."""
    async with RocksFrontier(path, config(order)) as frontier:
        assert (await frontier.stats()).claimed == 0
        told = await frontier.explain(sample)
        assert all(explanation.seen_at_ms is not None for explanation in told)
        claims = (await frontier.claim("witness", 1_000_000)).claims
        await frontier.release([claim.token for claim in claims])
    numbers = [claim.request.fingerprint for claim in claims]
    assert len(set(numbers)) == len(numbers)
    assert [claim.request for claim in claims] == [request(number) for number in numbers]
    return set(numbers)


@pytest.mark.parametrize("order", [Order.BFS, Order.PRIORITY])
async def test_killed_frontier_loses_nothing_and_does_nothing_twice(
    tmp_path: Path, order: Order
) -> None:
    print(f"WEFT_TEST_SEED={SEED}")
    chance = random.Random(f"{SEED}{order}")
    witness = Witness()
    for number in range(ROUNDS):
        # Now and then while it is opening the store and puts back what its predecessor had.
        until, most_s = ("opening", 0.02) if number % 4 == 3 else ("open", 0.15)
        arguments = [str(tmp_path), order, f"{SEED}{order}{number}", str(witness.first)]
        command = [sys.executable, fetching.__file__, *arguments]
        witness.hear(heard_before_kill(command, until, chance.uniform(0, most_s)))
        sample = chance.sample(sorted(witness.added), min(20, len(witness.added)))
        claimable = await look(tmp_path, order, sample)
        stats, queued, seen, hosts = walk(tmp_path)
        assert set(queued.values()) <= {1}
        assert set(queued) == claimable
        assert_counters_agree(stats, queued, seen, hosts)
        witness.settle(claimable, seen)
    assert witness.finished, "the victims were killed before they had done anything"
