"""Workers that share a file of JSON lines, killed and stopped: each item is in it once."""

import random
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from disks import fill, small_disk_at
from effort import times
from sharing import Worker, shared_sink, workers
from storing import BATCH_ITEMS, batch_of, read_numbers
from weft.errors import StoreFullError
from weft.sinks import Sink

ROUNDS = times(3, 8)
WORKERS = 4
BATCHES = 100


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "items.jsonl"


@pytest.fixture
def job_dir(tmp_path: Path) -> Path:
    return tmp_path / "job"


def numbers_of(batches: Iterable[int]) -> set[int]:
    return {int.from_bytes(item.key, "big") for number in batches for item in batch_of(number)}


def assert_holds(output: Path, batches: Iterable[int]) -> None:
    numbers = read_numbers(output)
    assert len(numbers) == len(set(numbers))
    assert numbers_of(batches) <= set(numbers)


def spools_of(job_dir: Path) -> list[Path]:
    return list(job_dir.glob("spools/*.part"))


def run_some_to_their_death(group: list[Worker], rng: random.Random, first: int) -> set[int]:
    """All store overlapping batches, some are killed; what was acknowledged."""
    for worker in group:
        worker.send("open", *rng.sample(range(first, first + BATCHES), BATCHES // 2), "close")
    for worker in group:
        worker.wait_for("open")
    for worker in rng.sample(group, rng.randint(1, len(group))):
        time.sleep(rng.uniform(0, 0.05))
        worker.kill()
    return {number for worker in group for number in worker.stored()}


@pytest.mark.parametrize("merge_every_s", [0, 5], ids=["merged all the time", "merged at the end"])
def test_killed_workers_lose_nothing_and_store_nothing_twice(
    output: Path, job_dir: Path, rng: random.Random, merge_every_s: float
) -> None:
    stored: set[int] = set()
    for round_number in range(ROUNDS):
        with workers(WORKERS, output, job_dir, merge_every_s) as group:
            group[0].do("open", round_number)
            stored |= {round_number}
            stored |= run_some_to_their_death(group[1:], rng, round_number * BATCHES // 2)
            group[0].do("close")
        assert_holds(output, stored)
        assert spools_of(job_dir) == []


def test_spools_of_workers_that_were_all_killed_are_merged_by_the_next(
    output: Path, job_dir: Path, rng: random.Random
) -> None:
    stored: set[int] = set()
    for round_number in range(3):
        with workers(WORKERS, output, job_dir) as group:
            for number, worker in enumerate(group):
                worker.do("open", number)
            time.sleep(rng.uniform(0, 0.05))
            for worker in group:
                worker.send(*range(BATCHES * round_number, BATCHES * (round_number + 1)))
            for worker in group:
                worker.kill()
            stored |= {number for worker in group for number in worker.stored()}
    stored |= set(range(WORKERS))
    with workers(1, output, job_dir) as [last]:
        last.do("open")
        assert_holds(output, stored)
        last.do("close")
    assert_holds(output, stored)
    assert spools_of(job_dir) == []


def test_two_that_close_at_the_same_moment_merge_everything(output: Path, job_dir: Path) -> None:
    with workers(2, output, job_dir) as group:
        for turn in range(times(15, 50)):
            for number, worker in enumerate(group):
                worker.do("open", turn + number, turn + number + 1)
            for worker in group:
                worker.send("close")
            for worker in group:
                worker.wait_for("close")
            assert sorted(read_numbers(output)) == list(range((turn + 3) * BATCH_ITEMS))
            assert spools_of(job_dir) == []


def test_worker_that_was_stopped_while_the_others_ended_merges_its_own(
    output: Path, job_dir: Path
) -> None:
    with workers(2, output, job_dir) as [sleeper, other]:
        for worker in (sleeper, other):
            worker.do("open", 0)
        sleeper.do(1)
        sleeper.stop()
        other.do(2, "close")
        assert_holds(output, [0, 2])
        with workers(1, output, job_dir) as [next_run]:
            next_run.do("open", 3, "close")
        sleeper.go_on()
        sleeper.do(2, 3, 4, "close")
    assert sorted(read_numbers(output)) == list(range(5 * BATCH_ITEMS))
    assert spools_of(job_dir) == []


async def test_worker_that_was_stopped_while_another_started_over_goes_on(
    output: Path, job_dir: Path
) -> None:
    with workers(1, output, job_dir) as [sleeper]:
        sleeper.do("open", 0, 1)
        sleeper.stop()
        sink = shared_sink(output, job_dir, merge_every_s=5)
        await sink.open()
        await sink.clear()
        await sink.store(batch_of(5))
        await sink.close()
        sleeper.go_on()
        sleeper.do(3, "close")
    numbers = read_numbers(output)
    assert len(numbers) == len(set(numbers))
    assert set(numbers) == numbers_of([3, 5])


async def close_on_a_full_disk(sink: Sink, disk: Path, spools: Path) -> None:
    ballast = fill(disk, 20_000)
    with pytest.raises(StoreFullError, match=f"items that are not .* are safe in {spools}"):
        await sink.close()
    ballast.unlink()


async def test_disk_that_is_full_during_the_merge_loses_nothing(
    tmp_path: Path, job_dir: Path
) -> None:
    with small_disk_at(tmp_path / "disk", size_mb=2) as disk:
        output = disk / "items.jsonl"

        sink = shared_sink(output, job_dir, merge_every_s=1000)
        await sink.open()
        for number in range(20):
            await sink.store(batch_of(number))
        await close_on_a_full_disk(sink, disk, job_dir / "spools")
        await sink.open()
        await sink.close()
        assert read_numbers(output) == list(range(20 * BATCH_ITEMS))
        assert spools_of(job_dir) == []
