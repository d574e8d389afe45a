"""Where items go. `make_sink` chooses the sink by what `-o` says."""

from hashlib import blake2b
from pathlib import Path

from weft.errors import ConfigError
from weft.sinks.base import KeyedItem, Sink
from weft.sinks.jsonl import JsonLinesSink
from weft.sinks.sqlite import SqliteSink

__all__ = ["JsonLinesSink", "KeyedItem", "Sink", "SqliteSink", "make_sink"]

SQLITE_SUFFIXES = (".db", ".sqlite", ".sqlite3")
JSON_LINES_SUFFIXES = (".jl", ".jsonl", ".ndjson")


def make_sink(output: str, job_dir: Path) -> Sink:
    """The sink for `output`, not opened yet; what it has to remember goes into `job_dir`.

    `output` is a path, whose ending says what to write, or `sqlite:///path` or `jsonl:///path`
    with an absolute path.
    """
    scheme, separator, rest = output.partition("://")
    if separator and rest.startswith("/") and rest.strip("/"):
        path, kind = Path(rest), scheme.lower()
    else:
        path, kind = Path(output), _kind_by_suffix(output)
    if kind == "sqlite":
        return SqliteSink(path)
    if kind == "jsonl":
        return JsonLinesSink(path, job_dir / _index_name(path))
    raise ConfigError(_help(output))


def _kind_by_suffix(output: str) -> str:
    suffix = Path(output).suffix.lower()
    if "://" in output:
        return ""
    if suffix in SQLITE_SUFFIXES:
        return "sqlite"
    return "jsonl" if suffix in JSON_LINES_SUFFIXES else ""


def _index_name(path: Path) -> str:
    digest = blake2b(str(path.absolute()).encode(errors="surrogateescape"), digest_size=8)
    return f"jsonl-{digest.hexdigest()}.index"


def _help(output: str) -> str:
    return (
        f"items cannot go to {output!r}; choose a file that ends in "
        f"{', '.join(SQLITE_SUFFIXES)} (SQLite) or {', '.join(JSON_LINES_SUFFIXES)} (JSON lines), "
        "or an address with an absolute path: sqlite:///path, jsonl:///path"
    )
