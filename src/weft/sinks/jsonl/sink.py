"""Items in a file, one JSON object per line, each exactly once.

A batch is stored in two steps: the index records its keys and the range of bytes that it will fill
(commit), then the lines are written there (fsync). So the index is never behind the file. It
can be ahead, if the process dies or the disk is full in between. The next `open` or `store` detects
that from the file and repairs it:

* the file ends inside the last batch: the complete lines stay, the rest is cut off and the index
  forgets its keys;
* the file contains nothing of the last batch: it was deleted, replaced or rewritten. The file
  stays as it is and the index forgets everything;
* the file continues after the last batch: something was appended. It stays.

In any case, a last line without a newline gets one if it is JSON, or else is cut off.
"""

import logging
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path

from weft.errors import StoreError
from weft.sinks.base import KeyedItem
from weft.sinks.disk.blocking import BlockingSink
from weft.sinks.disk.errors import errors_of
from weft.sinks.disk.lockedfile import LockedFile
from weft.sinks.encoding import KeyedLine, encode_item
from weft.sinks.jsonl.keys import KeyBatch, KeyIndex
from weft.sinks.jsonl.lines import is_line_start, last_line_start, repair_lines
from weft.sinks.jsonl.readback import read_lines
from weft.sinks.readback import Query, StoredItem, read_off_loop

logger = logging.getLogger(__name__)


class JsonLinesSink(BlockingSink):
    """A `Sink` that appends to the file `path`; `index` is a file in the job's directory."""

    def __init__(self, path: Path, index: Path) -> None:
        super().__init__("weft-jsonl-sink", str(path))
        self._path = path
        self._index_path = index
        self._writer: LineWriter | None = None

    def read(self, query: Query) -> AsyncIterator[StoredItem]:
        return read_off_loop(read_lines(self._path, query))

    def _open(self) -> None:
        self._close()
        self._writer = LineWriter(self._path, self._index_path)
        self._writer.settle()

    def _store(self, items: Sequence[KeyedItem]) -> None:
        self._opened().store(map(encode_item, items))

    def _clear(self) -> None:
        self._opened().clear()

    def _opened(self) -> "LineWriter":
        if self._writer is None:
            raise StoreError(f"{self._path} is not open")
        return self._writer

    def _close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None


class LineWriter:
    """The file and its index together; blocking, for one thread."""

    def __init__(self, path: Path, index: Path) -> None:
        self._path = path
        with errors_of(path):
            self._file = LockedFile(path)
        try:
            self._index = KeyIndex(index)
        except BaseException:
            self._file.close()
            raise
        #: Where the file ends if it and the index agree; None: `settle` has to run first.
        self._end: int | None = None

    def store(self, lines: Iterable[KeyedLine]) -> None:
        self.settle()
        first_by_key: dict[bytes, KeyedLine] = {}
        for line in lines:
            first_by_key.setdefault(line.key, line)
        known = self._index.known(first_by_key)
        new = [line for line in first_by_key.values() if line.key not in known]
        if new:
            self._append(new)

    def clear(self) -> None:
        # The index first: a file that it does not know is only appended to.
        self._index.forget_all()
        with errors_of(self._path):
            self._file.cut(0)
        self._end = None

    def settle(self) -> None:
        """Make the file and the index agree, whatever has happened to them."""
        with errors_of(self._path):
            self._reopen_if_replaced()
            if self._end is None or self._file.size_bytes() != self._end:
                self._end = None
                self._repair()
                self._end = self._file.size_bytes()

    def close(self) -> None:
        self._index.close()
        self._file.close()

    def _append(self, new: Sequence[KeyedLine]) -> None:
        assert self._end is not None  # settled
        start, self._end = self._end, None
        ends = []
        end = start
        for line in new:
            end += len(line.data) + 1
            ends.append((line.key, end))
        data = b"".join(line.data + b"\n" for line in new)
        self._index.add(KeyBatch.of(start, data), ends)
        with errors_of(self._path):
            self._file.append(data)
        self._end = end

    def _reopen_if_replaced(self) -> None:
        if self._file.is_at_path():
            return
        replacement = LockedFile(self._path)
        self._file.close()
        self._file = replacement
        self._end = None

    def _repair(self) -> None:
        batch = self._index.last_batch()
        if batch is None or self._holds(batch):
            repair_lines(self._file, last_line_start(self._file))
        elif self._ends_inside(batch):
            repair_lines(self._file, batch.start)
            rest = self._file.read(batch.start, self._file.size_bytes())
            self._index.shorten(KeyBatch.of(batch.start, rest))
        else:
            logger.warning(
                "%s was changed by another program, so its items are unknown", self._path
            )
            repair_lines(self._file, last_line_start(self._file))
            self._index.forget_all()

    def _holds(self, batch: KeyBatch) -> bool:
        data = self._file.read(batch.start, batch.end)
        return self._reaches(batch) and KeyBatch.of(batch.start, data) == batch

    def _ends_inside(self, batch: KeyBatch) -> bool:
        return self._reaches(batch) and self._file.size_bytes() <= batch.end

    def _reaches(self, batch: KeyBatch) -> bool:
        """Whether the batch can be in this file: a line starts where it starts."""
        return self._file.size_bytes() >= batch.start and is_line_start(self._file, batch.start)
