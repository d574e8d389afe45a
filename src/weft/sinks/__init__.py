"""Where items go. `make_sink` chooses the sink by what `-o` says."""

import os
from collections.abc import Callable, Mapping
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from weft.errors import ConfigError
from weft.sinks.base import KeyedItem, Refusal, Sink, SinkConfig
from weft.sinks.extras import needs_extra
from weft.sinks.jsonl import JsonLinesSink
from weft.sinks.parts import PartedJsonLinesSink
from weft.sinks.sqlite import SqliteSink
from weft.urls import without_password

__all__ = [
    "JsonLinesSink",
    "KeyedItem",
    "PartedJsonLinesSink",
    "Refusal",
    "Sink",
    "SinkConfig",
    "SqliteSink",
    "has_left_items",
    "make_sink",
]

SQLITE_SUFFIXES = (".db", ".sqlite", ".sqlite3")
JSON_LINES_SUFFIXES = (".jl", ".jsonl", ".ndjson")


class _Kind(NamedTuple):
    """A module with a `make_sink(output, config)`, and the extra that installs what it needs."""

    module: str
    extra: str = ""


_BY_SCHEME: Mapping[str, _Kind] = {
    "mongodb": _Kind("weft.sinks.mongodb", "mongodb"),
    "mongodb+srv": _Kind("weft.sinks.mongodb", "mongodb"),
    "mysql": _Kind("weft.sinks.sql", "mysql"),
    "mariadb": _Kind("weft.sinks.sql", "mysql"),
    "postgresql": _Kind("weft.sinks.sql", "postgresql"),
    "ftp": _Kind("weft.sinks.export"),
    "s3": _Kind("weft.sinks.export", "s3"),
}
_BY_SUFFIX: Mapping[str, _Kind] = {
    ".json": _Kind("weft.sinks.export"),
    ".csv": _Kind("weft.sinks.export"),
    ".xml": _Kind("weft.sinks.export"),
    ".parquet": _Kind("weft.sinks.export", "parquet"),
}
_SQLITE_TABLE = _Kind("weft.sinks.sql", "sqlite")


def make_sink(output: str, config: SinkConfig) -> Sink:
    """The sink for `output`, not opened yet: a path, whose ending says what to write, or an
    address. Raises ConfigError for what is neither, and if something has to be installed first."""
    scheme, separator, rest = output.partition("://")
    if separator:
        return _make_by_scheme(scheme.lower(), rest, output, config)
    suffix = Path(output).suffix.lower()
    if suffix in SQLITE_SUFFIXES:
        return SqliteSink(Path(output), config.job)
    if suffix in JSON_LINES_SUFFIXES:
        return _make_json_lines_sink(Path(output), config)
    return _make(_BY_SUFFIX.get(suffix), output, config)


def _make_by_scheme(scheme: str, rest: str, output: str, config: SinkConfig) -> Sink:
    is_path = rest.startswith("/") and rest.strip("/")
    if scheme == "jsonl" and is_path:
        return _make_json_lines_sink(Path(rest), config)
    if scheme == "sqlite" and is_path:
        if Path(rest).parent.suffix.lower() in SQLITE_SUFFIXES:
            return _make(_SQLITE_TABLE, output, config)
        return SqliteSink(Path(rest), config.job)
    return _make(_BY_SCHEME.get(scheme), output, config)


def _make(kind: _Kind | None, output: str, config: SinkConfig) -> Sink:
    if kind is None:
        raise ConfigError(_help(output))
    with needs_extra(kind.extra, output, "items"):
        make: Callable[[str, SinkConfig], Sink] = import_module(kind.module).make_sink
        return make(output, config)


def _make_json_lines_sink(path: Path, config: SinkConfig) -> Sink:
    name = f"jsonl-{file_digest(path)}"
    index = config.job_dir / f"{name}.index"
    if config.is_shared:
        return PartedJsonLinesSink(path, index, config.job_dir / f"{name}.parts")
    return JsonLinesSink(path, index)


def file_digest(path: Path) -> str:
    """One name for one file, however it is spelled: workers may be started in different
    directories."""
    return blake2b(os.fsencode(os.path.realpath(path)), digest_size=8).hexdigest()


def has_left_items(job_dir: Path) -> bool:
    """Whether workers that were killed, or could not reach a server in the end, have left items
    there, which the next to open and close takes up."""
    # Here, for it imports this module.
    from weft.sinks.export.journal import has_unshown_items

    return any(job_dir.glob("jsonl-*.parts/*.part")) or has_unshown_items(job_dir)


def _help(output: str) -> str:
    return (
        f"items cannot go to {without_password(output)!r}; choose a file that ends in "
        f"{', '.join(SQLITE_SUFFIXES)} (SQLite), {', '.join(JSON_LINES_SUFFIXES)} (JSON lines), "
        f"{', '.join(_BY_SUFFIX)}, or an address: sqlite:///path or jsonl:///path with an absolute "
        "path, sqlite:///path/file.db/table, mongodb://host/db/collection, mysql://host/db/table, "
        "postgresql://host/db/table, ftp://host/path/file.csv, s3://bucket/prefix, "
        "warc://dir (raw pages)"
    )
