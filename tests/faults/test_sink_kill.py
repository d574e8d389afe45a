"""Sinks under `kill -9`: every item is there in the end, once."""

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

import nursery
import storing
from effort import times
from storing import numbers_until, read_numbers, store_one

ROUNDS = times(4, 10)


def stored_before_kill(output: Path, job_dir: Path, first: int, after_s: float) -> int:
    """Start the victim at batch `first`, kill it; how many batches it had acknowledged."""
    command = [sys.executable, storing.__file__, str(output), str(job_dir), str(first)]
    with nursery.Popen(command, stdout=subprocess.PIPE, text=True) as victim:
        assert victim.stdout is not None
        assert victim.stdout.readline() == "open\n"
        time.sleep(after_s)
        victim.kill()
        acknowledged = [int(line) for line in victim.stdout if line.endswith("\n")]
    assert acknowledged == list(range(first, first + len(acknowledged)))
    return len(acknowledged)


@pytest.mark.parametrize("name", ["items.db", "items.jsonl"])
async def test_killed_sink_loses_nothing_and_stores_nothing_twice(
    tmp_path: Path, name: str, rng: random.Random
) -> None:
    output, job_dir = tmp_path / name, tmp_path / "job"
    batches = 0
    for _ in range(ROUNDS):
        batches += stored_before_kill(output, job_dir, batches, rng.uniform(0, 0.05))
        numbers = Counter(read_numbers(output))
        assert set(numbers_until(batches)) <= set(numbers)
        assert max(numbers.values(), default=1) == 1
    await store_one(output, job_dir, batches)
    assert read_numbers(output) == list(numbers_until(batches + 1))
