"""Sinks under `kill -9` and on a full disk: every item is there in the end, once.

Run as a program, this file is the victim: it stores numbered batches until it is killed.
"""

import asyncio
import json
import os
import random
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from disks import fill, small_disk_at
from weft.errors import StoreFullError
from weft.sinks import KeyedItem, Sink, make_sink
from weft.testing.sink_contract import numbered

ROUNDS = 10
BATCH_ITEMS = 20
SEED = int(os.environ.get("WEFT_TEST_SEED") or random.randrange(2**32))


def batch_of(number: int) -> list[KeyedItem]:
    """Items of its own, and one of the batch before it."""
    start = number * BATCH_ITEMS
    return [
        numbered(n, text="x" * (n * 37 % 500))
        for n in range(max(0, start - 1), start + BATCH_ITEMS)
    ]


def numbers_until(batches: int) -> range:
    return range(batches * BATCH_ITEMS)


def read_numbers(output: Path) -> list[int]:
    """What a user can read at this moment; the line that is being written does not count."""
    if output.suffix == ".db":
        with closing(sqlite3.connect(output)) as database:
            texts = [text for (text,) in database.execute("SELECT item FROM items")]
    else:
        texts = output.read_bytes().split(b"\n")[:-1]
    return [json.loads(text)["number"] for text in texts]


# The victim.


async def store_until_killed(output: str, job_dir: Path, first_batch: int) -> None:
    sink = make_sink(output, job_dir)
    await sink.open()
    print("open", flush=True)
    number = first_batch
    while True:
        await sink.store(batch_of(number))
        print(number, flush=True)
        number += 1


def stored_before_kill(output: Path, job_dir: Path, first: int, after_s: float) -> int:
    """Start the victim at batch `first`, kill it; how many batches it had acknowledged."""
    command = [sys.executable, __file__, str(output), str(job_dir), str(first)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as victim:
        assert victim.stdout is not None
        assert victim.stdout.readline() == "open\n"
        time.sleep(after_s)
        victim.kill()
        acknowledged = [int(line) for line in victim.stdout if line.endswith("\n")]
    assert acknowledged == list(range(first, first + len(acknowledged)))
    return len(acknowledged)


async def store_one(output: Path, job_dir: Path, number: int) -> None:
    sink = make_sink(str(output), job_dir)
    await sink.open()
    try:
        await sink.store(batch_of(number))
    finally:
        await sink.close()


@pytest.mark.parametrize("name", ["items.db", "items.jsonl"])
def test_killed_sink_loses_nothing_and_stores_nothing_twice(tmp_path: Path, name: str) -> None:
    print(f"WEFT_TEST_SEED={SEED}")
    chance = random.Random(f"{SEED}{name}")
    output, job_dir = tmp_path / name, tmp_path / "job"
    batches = 0
    for _ in range(ROUNDS):
        batches += stored_before_kill(output, job_dir, batches, chance.uniform(0, 0.05))
        numbers = Counter(read_numbers(output))
        assert set(numbers_until(batches)) <= set(numbers)
        assert max(numbers.values(), default=1) == 1
    asyncio.run(store_one(output, job_dir, batches))
    assert read_numbers(output) == list(numbers_until(batches + 1))


# A full disk.


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk_at(tmp_path / "disk", size_mb=1) as disk:
        yield disk


LAYOUTS = {
    "sqlite": ("disk/items.db", "disk/job"),
    "json lines": ("disk/items.jsonl", "disk/job"),
    "json lines, index elsewhere": ("disk/items.jsonl", "job"),
    "json lines, only the index on the full disk": ("items.jsonl", "disk/job"),
}


async def store_until_full(sink: Sink) -> int:
    """Store batches until there is no space; the number of the batch that failed."""
    for number in range(10_000):
        try:
            await sink.store(batch_of(number))
        except StoreFullError:
            return number
    raise AssertionError("the disk never was full")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("leave_bytes", [0, 5_000, 40_000, 200_000])
def test_full_disk_loses_nothing_and_stores_nothing_twice(
    tmp_path: Path, small_disk: Path, layout: str, leave_bytes: int
) -> None:
    output, job_dir = (tmp_path / part for part in LAYOUTS[layout])

    async def scenario() -> int:
        sink = make_sink(str(output), job_dir)
        await sink.open()
        ballast = fill(small_disk, leave_bytes)
        failed = await store_until_full(sink)
        with pytest.raises(StoreFullError, match="free some space"):
            await sink.store(batch_of(failed))
        assert set(numbers_until(failed)) <= set(read_numbers(output))
        ballast.unlink()
        await sink.store(batch_of(failed))
        await sink.store(batch_of(failed + 1))
        await sink.close()
        return failed

    failed = asyncio.run(scenario())
    assert read_numbers(output) == list(numbers_until(failed + 2))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sink_opens_after_the_disk_was_full(tmp_path: Path, small_disk: Path, layout: str) -> None:
    output, job_dir = (tmp_path / part for part in LAYOUTS[layout])

    async def scenario() -> int:
        sink = make_sink(str(output), job_dir)
        await sink.open()
        ballast = fill(small_disk, 100_000)
        failed = await store_until_full(sink)
        await sink.close()
        ballast.unlink()
        await sink.open()
        await sink.store(batch_of(failed))
        await sink.close()
        return failed

    failed = asyncio.run(scenario())
    assert read_numbers(output) == list(numbers_until(failed + 1))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_opening_on_a_full_disk_says_so(tmp_path: Path, small_disk: Path, layout: str) -> None:
    output, job_dir = (tmp_path / part for part in LAYOUTS[layout])

    async def scenario() -> None:
        ballast = fill(small_disk, 0)
        with pytest.raises(StoreFullError):
            await store_one(output, job_dir, 0)
        ballast.unlink()
        await store_one(output, job_dir, 0)

    asyncio.run(scenario())
    assert read_numbers(output) == list(numbers_until(1))


if __name__ == "__main__":
    asyncio.run(store_until_killed(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
