"""An export that shows its items all the time. Run as a program, it stores until it is killed."""

import asyncio
import json
import sys
from pathlib import Path

import pyarrow.parquet

from storing import batch_of
from weft.sinks import Sink
from weft.sinks.export import ExportSink
from weft.sinks.export.formats import find_render
from weft.sinks.export.journal import journal_path
from weft.sinks.export.local import LocalPlace
from weft.sinks.export.whole import WholeOutlet


def eager_sink(output: Path, job_dir: Path) -> Sink:
    render = find_render(output.name)
    assert render is not None
    journal = journal_path(job_dir, "eager")
    place = LocalPlace(output, "eager")
    return ExportSink(journal, "", WholeOutlet(journal, place, render, every_s=0))


def shown_numbers(output: Path) -> list[int]:
    """What a user can read at this moment; it is whole, whatever has happened."""
    if not output.exists():
        return []
    if output.suffix == ".parquet":
        numbers: list[int] = pyarrow.parquet.read_table(output)["number"].to_pylist()
        return numbers
    return [item["number"] for item in json.loads(output.read_bytes())]


async def store_until_killed(output: Path, job_dir: Path, first_batch: int) -> None:
    sink = eager_sink(output, job_dir)
    await sink.open()
    print("open", flush=True)
    number = first_batch
    while True:
        await sink.store(batch_of(number))
        print(number, flush=True)
        number += 1


async def store_and_close(output: Path, job_dir: Path, *numbers: int) -> None:
    sink = eager_sink(output, job_dir)
    await sink.open()
    try:
        for number in numbers:
            await sink.store(batch_of(number))
    finally:
        await sink.close()


if __name__ == "__main__":
    asyncio.run(store_until_killed(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
