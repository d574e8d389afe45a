"""Sinks on a full disk: what cannot be stored is told, and can be stored later, once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from disks import fill, small_disk_at
from storing import batch_of, numbers_until, read_numbers, store_one
from weft.errors import StoreFullError
from weft.sinks import Sink, SinkConfig, make_sink


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
async def test_full_disk_loses_nothing_and_stores_nothing_twice(
    tmp_path: Path, small_disk: Path, layout: str, leave_bytes: int
) -> None:
    output, job_dir = (tmp_path / part for part in LAYOUTS[layout])

    sink = make_sink(str(output), SinkConfig(job_dir))
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
    assert read_numbers(output) == list(numbers_until(failed + 2))


@pytest.mark.parametrize("layout", LAYOUTS)
async def test_sink_opens_after_the_disk_was_full(
    tmp_path: Path, small_disk: Path, layout: str
) -> None:
    output, job_dir = (tmp_path / part for part in LAYOUTS[layout])

    sink = make_sink(str(output), SinkConfig(job_dir))
    await sink.open()
    ballast = fill(small_disk, 100_000)
    failed = await store_until_full(sink)
    await sink.close()
    ballast.unlink()
    await sink.open()
    await sink.store(batch_of(failed))
    await sink.close()
    assert read_numbers(output) == list(numbers_until(failed + 1))


@pytest.mark.parametrize("layout", LAYOUTS)
async def test_opening_on_a_full_disk_says_so(
    tmp_path: Path, small_disk: Path, layout: str
) -> None:
    output, job_dir = (tmp_path / part for part in LAYOUTS[layout])

    ballast = fill(small_disk, 0)
    with pytest.raises(StoreFullError):
        await store_one(output, job_dir, 0)
    ballast.unlink()
    await store_one(output, job_dir, 0)
    assert read_numbers(output) == list(numbers_until(1))
