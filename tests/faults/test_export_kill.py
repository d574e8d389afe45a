"""Exports under `kill -9`, at any moment: what is shown is whole, and all is there in the end."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

import exporting
import nursery
from effort import times
from exporting import shown_numbers, store_and_close
from storing import numbers_until
from weft.sinks import has_left_items

ROUNDS = times(3, 8)


def stored_before_kill(output: Path, job_dir: Path, first: int, after_s: float) -> int:
    """Start the victim at batch `first`, kill it; how many batches it had acknowledged."""
    command = [sys.executable, exporting.__file__, str(output), str(job_dir), str(first)]
    with nursery.Popen(command, stdout=subprocess.PIPE, text=True) as victim:
        assert victim.stdout is not None
        assert victim.stdout.readline() == "open\n"
        time.sleep(after_s)  # the moment of death is anyone's
        victim.kill()
        return sum(line.endswith("\n") for line in victim.stdout)


@pytest.mark.parametrize("name", ["items.json", "items.parquet"])
async def test_killed_export_shows_all_items_once_in_the_end(
    tmp_path: Path, name: str, rng: random.Random
) -> None:
    output, job_dir = tmp_path / name, tmp_path / "job"
    batches = 0
    for _ in range(ROUNDS):
        batches += stored_before_kill(output, job_dir, batches, rng.uniform(0, 0.15))
        shown = shown_numbers(output)
        assert shown == list(range(len(shown)))
        assert len(shown) >= len(numbers_until(batches)) or has_left_items(job_dir)
    await store_and_close(output, job_dir)
    shown = shown_numbers(output)
    assert shown == list(range(len(shown)))
    assert len(shown) >= len(numbers_until(batches))
    await store_and_close(output, job_dir, batches)
    assert shown_numbers(output) == list(numbers_until(batches + 1))
    assert not has_left_items(job_dir)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, "job"])
