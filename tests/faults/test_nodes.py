"""Nodes with addresses of their own crawl together; whatever befalls them, the invariants hold."""

import os
import random
import time
from collections import Counter
from pathlib import Path

import pytest

from effort import times
from troubles import Troubles
from weft.testing.waiting import wait_until
from world import Pages, World, new_world

LEASE_S = 3.0
DELAY_S = 1.0
#: Pages of a host without delay in a second, as they are crawled in trouble.
QUICK_PER_S = 8

#: The long mode: minutes and seeds.
MINUTES = float(os.environ.get("WEFT_FAULT_MINUTES") or 10)
SEEDS = [int(seed) for seed in (os.environ.get("WEFT_TEST_SEED") or "1 2 3").split()]


def are_busy(world: World, nodes: int) -> bool:
    time.sleep(0.5)  # looking has its price
    hits = Counter(hit.client for hit in world.hits())
    return len(hits) == nodes and min(hits.values()) > 20


@pytest.mark.long
@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    ("pages", "networks", "cut_off_s"),
    [(20, ["store"], 8.0), (20, ["store", "site"], 8.0), (100, ["store"], 20.0)],
    ids=["store", "store and site", "store, for long"],
)
def test_a_node_is_killed_one_is_cut_off_and_one_joins(
    pages: int, networks: list[str], cut_off_s: float, tmp_path: Path
) -> None:
    slow, quick = Pages(180, pages, delay_s=DELAY_S), Pages(20, pages)
    started_s = time.monotonic()
    with new_world(tmp_path, [slow, quick], lease_s=LEASE_S) as world:
        _, second, third = (world.cluster.join() for _ in range(3))
        wait_until(lambda: are_busy(world, 3), description="three nodes crawl", timeout_s=60)
        second.machine.cut_off(*networks)
        cut_at_s = time.monotonic()
        third.kill()
        world.cluster.join()
        time.sleep(cut_at_s + cut_off_s - time.monotonic())
        second.machine.reconnect()
        told = world.check(timeout_s=300)
        print(f"{time.monotonic() - started_s:.0f} s: {told}")


def crawl_in_trouble(directory: Path, rng: random.Random, seconds: float) -> None:
    """The sites are so big that the crawl lasts about as long as the trouble."""
    slow = Pages(30, round(0.7 * seconds / DELAY_S), delay_s=DELAY_S)
    quick = Pages(6, round(0.7 * seconds * QUICK_PER_S))
    started_s = time.monotonic()
    with new_world(directory, [slow, quick], lease_s=LEASE_S, has_link=True) as world:
        for _ in range(3):
            world.cluster.join()
        wait_until(lambda: are_busy(world, 3), description="three nodes crawl", timeout_s=60)
        troubles = Troubles(world, rng, LEASE_S)
        troubles.run(seconds)
        print(f"{time.monotonic() - started_s:.0f} s with {dict(sorted(troubles.done.items()))}")
        told = world.check(timeout_s=seconds + 120)
        print(f"{time.monotonic() - started_s:.0f} s: {told}")


@pytest.mark.timeout(300)
def test_seconds_of_trouble(tmp_path: Path, rng: random.Random) -> None:
    crawl_in_trouble(tmp_path, rng, seconds=times(6, 30))


@pytest.mark.long
@pytest.mark.timeout(MINUTES * 60 * 3 + 400)
@pytest.mark.parametrize("seed", SEEDS)
def test_minutes_of_trouble(tmp_path: Path, seed: int) -> None:
    print(f"seed {seed}; repeat with make faults SEED={seed}")
    crawl_in_trouble(tmp_path, random.Random(seed), seconds=MINUTES * 60)
