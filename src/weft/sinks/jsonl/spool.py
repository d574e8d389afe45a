"""A spool: the items of one worker that are not in the shared file yet.

One line per item, with its key and a checksum of both:

    000102030405060708090a0b0c0d0e0f 1f2e3d4c {"title": "…"}

An incomplete batch leaves lines without a valid checksum. They are skipped: their items were never
reported as stored.
"""

import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from zlib import crc32

from weft.sinks.disk.lockedfile import LockedFile
from weft.sinks.encoding import KeyedLine

#: The names of spools and of their directories end like this. So do those that older versions have
#: left, which must be found.
SPOOL_SUFFIX = ".part"
SPOOLS_SUFFIX = ".parts"
#: Lines are read in batches of about this size, or of one line if it is longer.
BATCH_BYTES = 1024 * 1024

logger = logging.getLogger(__name__)


class Spool:
    """Open from construction until `close`, and locked meanwhile: `StoreLockedError` if its worker
    is alive."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = LockedFile(path)
        self._end = self._file.size_bytes()

    def is_at_path(self) -> bool:
        return self._file.is_at_path()

    def append(self, lines: Iterable[KeyedLine]) -> None:
        """Append the lines; they are on disk on return."""
        if self._file.size_bytes() != self._end:  # an earlier call failed after it wrote something
            self._file.cut(self._end)
        data = b"".join(map(to_record, lines))
        self._file.append(data)
        self._end += len(data)

    def batches(self) -> Iterator[list[KeyedLine]]:
        batch, size_bytes = [], 0
        for line in self._lines():
            batch.append(line)
            size_bytes += len(line.data)
            if size_bytes >= BATCH_BYTES:
                yield batch
                batch, size_bytes = [], 0
        if batch:
            yield batch

    def _lines(self) -> Iterator[KeyedLine]:
        passed_bytes = 0
        with self._path.open("rb") as records:
            for record in records:
                if line := from_record(record):
                    yield line
                else:
                    passed_bytes += len(record)
        if passed_bytes:
            logger.warning("%s: left out %d half-written bytes", self._path, passed_bytes)

    def empty(self) -> None:
        self._file.cut(0)
        self._end = 0

    def delete(self) -> None:
        self._path.unlink(missing_ok=True)

    def close(self) -> None:
        self._file.close()


def to_record(line: KeyedLine) -> bytes:
    return b"%s %08x %s\n" % (line.key.hex().encode(), _checksum(line), line.data)


def from_record(record: bytes) -> KeyedLine | None:
    """Return None if this is not a complete record."""
    try:
        key, checksum, data = record.split(b" ", 2)
        line = KeyedLine(bytes.fromhex(key.decode()), data[:-1])
        is_whole = data.endswith(b"\n") and int(checksum, 16) == _checksum(line)
    except ValueError:
        return None
    return line if is_whole else None


def _checksum(line: KeyedLine) -> int:
    return crc32(line.data, crc32(line.key))
