"""Numbered batches for sinks. Run as a program, it stores them until it is killed."""

import asyncio
import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from weft.sinks import KeyedItem, Sink, SinkConfig, make_sink
from weft.sinks.jsonl import keys
from weft.testing.sink_contract import numbered, store

BATCH_ITEMS = 20


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


async def store_until_killed(sink: Sink, first_batch: int) -> None:
    await sink.open()
    print("open", flush=True)
    number = first_batch
    while True:
        await sink.store(batch_of(number))
        print(number, flush=True)
        number += 1


async def store_one(output: Path, job_dir: Path, number: int) -> None:
    await store(make_sink(str(output), SinkConfig(job_dir)), batch_of(number))


if __name__ == "__main__":
    output, job_dir, first_batch = sys.argv[1:]
    # Often: it is to be killed in the midst of that too.
    keys.SORTED_TOGETHER = 2 * BATCH_ITEMS
    made = make_sink(output, SinkConfig(Path(job_dir)))
    asyncio.run(store_until_killed(made, int(first_batch)))
