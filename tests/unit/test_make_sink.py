from pathlib import Path

import pytest

from weft import sinks
from weft.errors import ConfigError
from weft.sinks import JsonLinesSink, SqliteSink, make_sink

JOB = Path("job")


@pytest.mark.parametrize(
    "output", ["items.db", "a/items.sqlite", "/x/items.SQLITE3", "sqlite:///x/items", "a b.db"]
)
def test_sqlite_is_chosen(output: str) -> None:
    assert isinstance(make_sink(output, JOB), SqliteSink)


@pytest.mark.parametrize("output", ["items.jsonl", "a/items.jl", "x.NDJSON", "jsonl:///x/items.db"])
def test_json_lines_are_chosen(output: str) -> None:
    assert isinstance(make_sink(output, JOB), JsonLinesSink)


@pytest.mark.parametrize(
    "output", ["", "items", "items.csv", "sqlite://", "sqlite:///", "jsonl://x.jsonl", "s3:///x.db"]
)
def test_anything_else_is_refused_with_the_choices(output: str) -> None:
    with pytest.raises(ConfigError, match=r"\.db.*\.jsonl.*sqlite:///path") as caught:
        make_sink(output, JOB)
    assert repr(output) in str(caught.value)


def test_public_names_are_sorted() -> None:
    assert sinks.__all__ == sorted(sinks.__all__)
