"""Pages that wait until they are due, in a Redis: its clients are killed, and it is killed itself.

Clients move these pages into blocks and out of them, and may die at any moment of that. Whatever
happens, each page is in one place, and what was said of its next visit holds.
"""

import asyncio
import os
import random
import sys
import time

import pytest

import fetching
from effort import times
from fetching import DAY_MS, open_frontier
from launchers.redis import RedisServer
from servers import all_keys
from weft.records import Order
from weft.redis.keys import is_ours
from weft.testing.clock import FakeClock
from weft.testing.frontier_contract.duepages import claim_all
from witness import Hearing, Witness

ROUNDS = times(4, 40)
SEED = int(os.environ.get("WEFT_TEST_SEED") or random.randrange(2**32))
#: By then every page is due.
LATE_MS = 500 * DAY_MS


def hear(store: RedisServer, order: Order, number: int, witness: Witness, *, kills: int) -> None:
    """A victim works, while its store is killed so many times; in the end it is killed itself."""
    chance = random.Random(f"{SEED}{order}{number}")
    arguments = [store.url, order, f"{SEED}{order}{number}", str(witness.first)]
    command = [sys.executable, fetching.__file__, *arguments, str((number + 1) * DAY_MS)]
    with Hearing(command) as hearing:
        hearing.wait_for("open")
        for _ in range(kills):
            time.sleep(chance.uniform(0, 0.2))
            store.kill()
            store.start()
        time.sleep(chance.uniform(0, 0.4))
        witness.hear(hearing.kill(), may_be_unsure=kills > 0)


async def find_all(store: RedisServer, order: Order) -> dict[int, bytes]:
    """Every page that is in a queue, claimed or waiting, with its payload. Then all are claimed."""
    async with open_frontier(store.url, order, FakeClock(LATE_MS)) as frontier:
        before = await frontier.stats()
        await frontier.reclaim()
        requests = [claim.request for claim in await claim_all(frontier)]
        after = await frontier.stats()
    found = {request.fingerprint: request.payload for request in requests}
    assert len(found) == len(requests), "a page is in two places"
    assert before.queued + before.claimed + before.waiting == len(found)
    assert (after.queued, after.claimed, after.waiting) == (0, len(found), 0)
    return found


@pytest.mark.parametrize("kills", [0, 2], ids=["clients", "store"])
@pytest.mark.parametrize("order", [Order.BFS, Order.PRIORITY])
def test_no_page_that_waits_is_forgotten_or_doubled(order: Order, kills: int) -> None:
    print(f"WEFT_TEST_SEED={SEED}")
    blocks = 0
    with RedisServer(durable=True) as store:
        for number in range(ROUNDS):
            witness = Witness()
            hear(store, order, number, witness, kills=kills)
            blocks += store.ask("HLEN", "weft:{job:b0}:later")
            witness.settle(asyncio.run(find_all(store, order)))
            assert store.ask("EXISTS", "weft:{job:b0}:later", "weft:{job:b0}:waiting") == 0
            assert all(is_ours(key) for key in all_keys(store))
            store.ask("FLUSHALL")
    assert blocks, "no page was put into a block"
