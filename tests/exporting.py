"""An export that shows its items all the time. Run as a program, it stores until it is killed."""

import asyncio
import json
import sys
from pathlib import Path

import pyarrow.parquet

from storing import batch_of, store_until_killed
from weft.sinks import Sink
from weft.sinks.files import ExportSink
from weft.sinks.files.formats import find_render
from weft.sinks.files.journal import journal_path
from weft.sinks.files.local import LocalDestination
from weft.sinks.files.whole import WholeOutlet
from weft.testing.sink_contract import store


def eager_sink(output: Path, job_dir: Path) -> Sink:
    render = find_render(output.name)
    assert render is not None
    journal = journal_path(job_dir, "eager")
    destination = LocalDestination(output, "eager")
    return ExportSink(journal, "", WholeOutlet(journal, destination, render, every_s=0))


def shown_numbers(output: Path) -> list[int]:
    """What a user can read at this moment; it is whole, whatever has happened."""
    if not output.exists():
        return []
    if output.suffix == ".parquet":
        numbers: list[int] = pyarrow.parquet.read_table(output)["number"].to_pylist()
        return numbers
    return [item["number"] for item in json.loads(output.read_bytes())]


async def store_and_close(output: Path, job_dir: Path, *numbers: int) -> None:
    await store(eager_sink(output, job_dir), *map(batch_of, numbers))


if __name__ == "__main__":
    output, job_dir, first_batch = sys.argv[1:]
    asyncio.run(store_until_killed(eager_sink(Path(output), Path(job_dir)), int(first_batch)))
