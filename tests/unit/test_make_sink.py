from pathlib import Path

import pytest

from weft import sinks
from weft.errors import ConfigError
from weft.sinks import (
    JsonLinesSink,
    SharedJsonLinesSink,
    Sink,
    SinkConfig,
    SqliteSink,
    make_sink,
)
from weft.testing.sink_contract import numbered

JOB = Path("job")


@pytest.mark.parametrize(
    "output", ["items.db", "a/items.sqlite", "/x/items.SQLITE3", "sqlite:///x/items", "a b.db"]
)
def test_sqlite_is_chosen(output: str) -> None:
    assert isinstance(make_sink(output, SinkConfig(JOB)), SqliteSink)


@pytest.mark.parametrize("output", ["items.jsonl", "a/items.jl", "x.NDJSON", "jsonl:///x/items.db"])
def test_json_lines_are_chosen(output: str) -> None:
    assert isinstance(make_sink(output, SinkConfig(JOB)), JsonLinesSink)


@pytest.mark.parametrize(
    ("output", "kind"), [("items.jsonl", SharedJsonLinesSink), ("items.db", SqliteSink)]
)
def test_sink_that_workers_share(output: str, kind: type[Sink]) -> None:
    assert isinstance(make_sink(output, SinkConfig(JOB, is_shared=True)), kind)


async def test_workers_that_spell_the_path_differently_share_one_file(tmp_path: Path) -> None:
    (tmp_path / "job").mkdir()
    (tmp_path / "link").symlink_to(tmp_path)
    spellings = [tmp_path / "items.jsonl", tmp_path / "job" / ".." / "link" / "items.jsonl"]
    config = SinkConfig(tmp_path / "job", is_shared=True)
    sinks = [make_sink(str(path), config) for path in spellings]
    for sink in sinks:
        await sink.open()
        await sink.store([numbered(1)])
    for sink in sinks:
        await sink.close()
    assert (tmp_path / "items.jsonl").read_bytes() == b'{"number":1}\n'


@pytest.mark.parametrize(
    "output",
    ["", "items", "items.ods", "sqlite://", "sqlite:///", "jsonl://x.jsonl", "gs://x/y.db"],
)
def test_anything_else_is_refused_with_the_choices(output: str) -> None:
    with pytest.raises(ConfigError, match=r"\.db.*\.jsonl.*sqlite:///path") as caught:
        make_sink(output, SinkConfig(JOB))
    assert repr(output) in str(caught.value)


def test_public_names_are_sorted() -> None:
    assert sinks.__all__ == sorted(sinks.__all__)
