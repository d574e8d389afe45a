"""Where items go. `make_sink` makes the sink that `-o` names."""

import os
from collections.abc import Callable, Mapping
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from weft.errors import ConfigError
from weft.sinks.base import KeyedItem, Refusal, Sink, SinkConfig
from weft.sinks.extras import needs_extra
from weft.sinks.jsonl.shared import SharedJsonLinesSink
from weft.sinks.jsonl.sink import JsonLinesSink
from weft.sinks.jsonl.spool import SPOOL_SUFFIX, SPOOLS_SUFFIX
from weft.sinks.sqlite.sink import SqliteSink
from weft.urls import without_password

__all__ = [
    "JsonLinesSink",
    "KeyedItem",
    "Refusal",
    "SharedJsonLinesSink",
    "Sink",
    "SinkConfig",
    "SqliteSink",
    "has_left_items",
    "make_sink",
]

SQLITE_SUFFIXES = (".db", ".sqlite", ".sqlite3")
JSON_LINES_SUFFIXES = (".jl", ".jsonl", ".ndjson")


class _Kind(NamedTuple):
    """A module with a `make_sink(output, config)`, and the extra that installs its dependencies."""

    module: str
    extra: str = ""


_BY_SCHEME: Mapping[str, _Kind] = {
    "mongodb": _Kind("weft.sinks.mongodb", "mongodb"),
    "mongodb+srv": _Kind("weft.sinks.mongodb", "mongodb"),
    "mysql": _Kind("weft.sinks.sql", "mysql"),
    "mariadb": _Kind("weft.sinks.sql", "mysql"),
    "postgresql": _Kind("weft.sinks.sql", "postgresql"),
    "ftp": _Kind("weft.sinks.files"),
    "s3": _Kind("weft.sinks.files", "s3"),
}
_BY_SUFFIX: Mapping[str, _Kind] = {
    ".json": _Kind("weft.sinks.files"),
    ".csv": _Kind("weft.sinks.files"),
    ".xml": _Kind("weft.sinks.files"),
    ".parquet": _Kind("weft.sinks.files", "parquet"),
}
_SQLITE_TABLE = _Kind("weft.sinks.sql", "sqlite")


def make_sink(output: str, config: SinkConfig) -> Sink:
    """Make the sink for `output`, not opened yet. `output` is a path, whose suffix gives the
    format, or an address. Raises ConfigError if it is neither, or if an extra is not installed."""
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
        return SharedJsonLinesSink(path, index, config.job_dir / f"{name}{SPOOLS_SUFFIX}")
    return JsonLinesSink(path, index)


def file_digest(path: Path) -> str:
    """The same name for a file however its path is written: workers may start in different
    directories."""
    return blake2b(os.fsencode(os.path.realpath(path)), digest_size=8).hexdigest()


def has_left_items(job_dir: Path) -> bool:
    """Whether workers left items there, because they were killed or could not reach a server. The
    next worker that opens and closes the sink stores them."""
    # Imported here because it imports this module.
    from weft.sinks.files.state import has_unshown_items

    return any(job_dir.glob(f"jsonl-*{SPOOLS_SUFFIX}/*{SPOOL_SUFFIX}")) or has_unshown_items(
        job_dir
    )


def _help(output: str) -> str:
    return (
        f"items cannot go to {without_password(output)!r}; choose a file that ends in "
        f"{', '.join(SQLITE_SUFFIXES)} (SQLite), {', '.join(JSON_LINES_SUFFIXES)} (JSON lines), "
        f"{', '.join(_BY_SUFFIX)}, or an address: sqlite:///path or jsonl:///path with an absolute "
        "path, sqlite:///path/file.db/table, mongodb://host/db/collection, mysql://host/db/table, "
        "postgresql://host/db/table, ftp://host/path/file.csv, s3://bucket/prefix, "
        "warc://dir (raw pages)"
    )
