"""Reading the items of a file of JSON lines."""

from collections.abc import Generator
from pathlib import Path

import msgspec

from weft.errors import StoreError, StoreMissingError
from weft.sinks.reading import Query, StoredItem
from weft.sinks.translate import errors_of

_decode = msgspec.json.Decoder(dict[str, object]).decode


def read_lines(path: Path, query: Query) -> Generator[StoredItem]:
    """Blocking, for one thread. A last line without an end, which is being written, is left out."""
    if query != Query():
        raise StoreError(
            f"{path} cannot be asked by job or time, for JSON lines keep neither; leave out --job "
            "and --since, or let crawls write into a database: -o items.db"
        )
    if not path.is_file():
        raise StoreMissingError(f"there is no file {path}; crawl something first, or name another")
    with errors_of(path), path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.isspace():
                continue
            try:
                fields = _decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError) as problem:
                if not line.endswith(b"\n"):
                    return
                raise StoreError(
                    f"line {number} of {path} is no item ({problem}); name a file that a crawl "
                    "has written"
                ) from problem
            yield StoredItem("", "", "", 0, fields)
