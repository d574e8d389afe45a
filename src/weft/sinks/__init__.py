"""Where items go. `make_sink` chooses the sink by what `-o` says."""

import os
from hashlib import blake2b
from pathlib import Path

from weft.errors import ConfigError
from weft.sinks.base import KeyedItem, Sink
from weft.sinks.jsonl import JsonLinesSink
from weft.sinks.parts import PartedJsonLinesSink
from weft.sinks.sqlite import SqliteSink

__all__ = [
    "JsonLinesSink",
    "KeyedItem",
    "PartedJsonLinesSink",
    "Sink",
    "SqliteSink",
    "has_parts",
    "make_sink",
]

SQLITE_SUFFIXES = (".db", ".sqlite", ".sqlite3")
JSON_LINES_SUFFIXES = (".jl", ".jsonl", ".ndjson")


def make_sink(output: str, job_dir: Path, *, is_shared: bool = False) -> Sink:
    """The sink for `output`, not opened yet; what it has to remember goes into `job_dir`.

    `output` is a path, whose ending says what to write, or `sqlite:///path` or `jsonl:///path`
    with an absolute path. With `is_shared`, all workers of `job_dir` may have it open at once.
    """
    scheme, separator, rest = output.partition("://")
    if separator and rest.startswith("/") and rest.strip("/"):
        path, kind = Path(rest), scheme.lower()
    else:
        path, kind = Path(output), _kind_by_suffix(output)
    if kind == "sqlite":
        return SqliteSink(path)
    if kind == "jsonl":
        return _make_json_lines_sink(path, job_dir, is_shared=is_shared)
    raise ConfigError(_help(output))


def _kind_by_suffix(output: str) -> str:
    suffix = Path(output).suffix.lower()
    if "://" in output:
        return ""
    if suffix in SQLITE_SUFFIXES:
        return "sqlite"
    return "jsonl" if suffix in JSON_LINES_SUFFIXES else ""


def _make_json_lines_sink(path: Path, job_dir: Path, *, is_shared: bool) -> Sink:
    # One name for one file, however it is spelled: workers may be started in different directories.
    digest = blake2b(os.fsencode(os.path.realpath(path)), digest_size=8).hexdigest()
    index = job_dir / f"jsonl-{digest}.index"
    if is_shared:
        return PartedJsonLinesSink(path, index, job_dir / f"jsonl-{digest}.parts")
    return JsonLinesSink(path, index)


def has_parts(job_dir: Path) -> bool:
    """Whether workers that were killed have left items there, which the next to open takes up."""
    return any(job_dir.glob("jsonl-*.parts/*.part"))


def _help(output: str) -> str:
    return (
        f"items cannot go to {output!r}; choose a file that ends in "
        f"{', '.join(SQLITE_SUFFIXES)} (SQLite) or {', '.join(JSON_LINES_SUFFIXES)} (JSON lines), "
        "or an address with an absolute path: sqlite:///path, jsonl:///path"
    )
