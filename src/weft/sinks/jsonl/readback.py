"""Reads the items of a file of JSON lines back."""

from collections.abc import Generator
from pathlib import Path

import msgspec

from weft.errors import StoreError, StoreMissingError
from weft.sinks.disk.errors import errors_of
from weft.sinks.readback import Query, StoredItem

_decode = msgspec.json.Decoder(dict[str, object]).decode


def read_lines(path: Path, query: Query) -> Generator[StoredItem]:
    """Blocking, for one thread. A last line without a newline is being written and is skipped."""
    if query != Query():
        raise StoreError(
            f"{path} cannot be searched by job or time, because JSON lines store neither; leave "
            "out --job and --since, or let crawls write into a database: -o items.db"
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
                    f"line {number} of {path} is not an item ({problem}); name a file that a crawl "
                    "has written"
                ) from problem
            yield StoredItem("", "", "", 0, fields)
