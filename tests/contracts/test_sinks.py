"""The contract of `Sink`, on every sink that we have."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from weft.sinks import SharedJsonLinesSink, Sink, SinkConfig, make_sink
from weft.testing.sink_contract import SinkContract


class TestSqliteSink(SinkContract):
    KEEPS_NEWER = True

    def make_sink(self, directory: Path) -> Sink:
        return make_sink(str(directory / "items.db"), SinkConfig(directory / "job"))

    async def read_items(self, directory: Path) -> list[dict[str, object]]:
        with closing(sqlite3.connect(directory / "items.db")) as database:
            return [json.loads(item) for (item,) in database.execute("SELECT item FROM items")]


class TestJsonLinesSink(SinkContract):
    KEEPS_NEWER = False

    def make_sink(self, directory: Path) -> Sink:
        return make_sink(str(directory / "items.jsonl"), SinkConfig(directory / "job"))

    async def read_items(self, directory: Path) -> list[dict[str, object]]:
        with (directory / "items.jsonl").open(encoding="utf-8", newline="\n") as lines:
            return [json.loads(line) for line in lines]


class TestSharedJsonLinesSink(TestJsonLinesSink):
    def make_sink(self, directory: Path) -> Sink:
        config = SinkConfig(directory / "job", is_shared=True)
        return make_sink(str(directory / "items.jsonl"), config)


class TestSharedJsonLinesSinkThatMergesAtOnce(TestJsonLinesSink):
    def make_sink(self, directory: Path) -> Sink:
        job = directory / "job"
        return SharedJsonLinesSink(directory / "items.jsonl", job / "index", job / "spools", 0)
