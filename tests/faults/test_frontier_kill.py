"""The embedded frontier under `kill -9`: what it has answered is so, and nothing is half done."""

import os
import random
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from rocksdict import AccessType, Rdict

import fetching
from effort import times
from fetching import DAY_MS, config, request
from weft.frontier import RocksFrontier
from weft.frontier.policy import HostRecord
from weft.frontier.rocks import layout
from weft.frontier.rocks.db import RocksDb
from weft.records import Order, PackedRequest, PageKind
from weft.testing.clock import FakeClock
from weft.testing.frontier_contract.duepages import claim_all
from witness import Witness, heard_before_kill

ROUNDS = times(6, 15)
#: On a busy machine a victim gets to do little before it is killed.
MOST_ROUNDS = 10 * ROUNDS
SEED = int(os.environ.get("WEFT_TEST_SEED") or random.randrange(2**32))


class Walk:
    """Everything that the database holds, read as it is."""

    def __init__(self, path: Path) -> None:
        access = AccessType.read_only(False)
        rdict = Rdict(str(path), layout.rocks_options(), layout.family_options(), access)
        database = RocksDb(rdict)
        self.stats = database.meta().stats
        self.queued = _requests(database, layout.QUEUE)
        self.waiting = _requests(database, layout.WAITING)
        self.seen = {int.from_bytes(key, "big") for key, _ in database.walk(layout.SEEN)}
        self.hosts = {
            key.decode(): msgspec.msgpack.decode(raw, type=HostRecord)
            for key, raw in database.walk(layout.HOSTS)
        }
        assert not [*database.walk(layout.CLAIMS)]
        del database
        rdict.close()

    def assert_counters_agree(self) -> None:
        stats = self.stats
        kinds = Counter(request.kind for request in self.queued)
        assert (stats.queued_nav, stats.queued_data) == (kinds[PageKind.NAV], kinds[PageKind.DATA])
        assert (stats.claimed, stats.held, stats.hosts) == (0, 0, len(self.hosts))
        assert (stats.added, stats.waiting) == (len(self.seen), len(self.waiting))
        by_host = Counter(request.host for request in self.queued)
        assert {host: record.queued for host, record in self.hosts.items()} == {
            host: by_host[host] for host in self.hosts
        }
        assert not any(record.claimed for record in self.hosts.values())


def _requests(database: RocksDb, family: str) -> list[PackedRequest]:
    rows = database.walk(family)
    return [msgspec.msgpack.decode(raw, type=PackedRequest) for _, raw in rows]


async def look(path: Path, order: Order, now_ms: int, sample: list[int]) -> list[PackedRequest]:
    """Open the store as the next worker would; what can be claimed. It is released again."""
    async with RocksFrontier(path, config(order), FakeClock(now_ms)) as frontier:
        assert (await frontier.stats()).claimed == 0
        told = await frontier.explain(sample)
        assert all(explanation.seen_at_ms is not None for explanation in told)
        claims = await claim_all(frontier)
        await frontier.release([claim.token for claim in claims])
    return [claim.request for claim in claims]


def each_once(requests: Sequence[PackedRequest]) -> dict[int, bytes]:
    """Their payloads, by their numbers."""
    found = {}
    for packed in requests:
        assert packed.fingerprint not in found, f"{packed.url} is there twice"
        assert msgspec.structs.replace(packed, payload=b"") == request(packed.fingerprint)
        found[packed.fingerprint] = packed.payload
    return found


@pytest.mark.parametrize("order", [Order.BFS, Order.PRIORITY])
async def test_killed_frontier_loses_nothing_and_does_nothing_twice(
    tmp_path: Path, order: Order
) -> None:
    print(f"WEFT_TEST_SEED={SEED}")
    chance = random.Random(f"{SEED}{order}")
    witness = Witness()
    has_waited = False
    for number in range(MOST_ROUNDS):
        if number >= ROUNDS and witness.finished and has_waited:
            break
        # Now and then while it is opening the store and puts back what its predecessor had.
        until, most_s = ("opening", 0.02) if number % 4 == 3 else ("open", 0.15)
        now_ms = (number + 1) * DAY_MS
        arguments = [str(tmp_path), order, f"{SEED}{order}{number}", str(witness.first)]
        command = [sys.executable, fetching.__file__, *arguments, str(now_ms)]
        witness.hear(heard_before_kill(command, until, chance.uniform(0, most_s)))
        sample = chance.sample(sorted(witness.added), min(20, len(witness.added)))
        claimable = await look(tmp_path, order, now_ms + DAY_MS, sample)
        walk = Walk(tmp_path)
        assert each_once(walk.queued) == each_once(claimable)
        witness.settle(each_once([*walk.queued, *walk.waiting]))
        assert walk.seen == witness.added
        walk.assert_counters_agree()
        has_waited = has_waited or bool(walk.waiting)
        stats = walk.stats
        assert stats.done + stats.replaced + stats.failed + stats.refused == witness.ended
    assert witness.finished, "the victims were killed before they had done anything"
    assert has_waited, "no page waits for more than a day"
