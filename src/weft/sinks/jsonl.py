"""Items in a file, one JSON object a line, each exactly once.

How a batch gets there: the index is told its keys and the part of the file that it will fill
(committed), then the lines are written there (fsync). So the index is never behind the file. It
can be ahead, if the process dies or the disk is full in between; that is seen from the file, at the
next `open` or `store`, and put right:

* the file ends inside the last batch: the lines that are whole stay, the rest is cut off and the
  index forgets its keys;
* the file does not hold the last batch, nor a part of it: someone has deleted, replaced or
  rewritten it. The file stays as it is and the index forgets everything;
* the file goes on after the last batch: someone has appended to it. That stays.

Whatever the index says, a last line without a newline gets one if it is JSON, or else is cut off.
"""

import logging
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path

from weft.errors import StoreError
from weft.sinks.base import KeyedItem
from weft.sinks.blocking import BlockingSink
from weft.sinks.encoding import KeyedLine, encode_item
from weft.sinks.keys import Batch, KeyIndex
from weft.sinks.lineread import read_lines
from weft.sinks.lines import LineFile
from weft.sinks.reading import Query, StoredItem, read_off_loop
from weft.sinks.translate import errors_of

logger = logging.getLogger(__name__)


class JsonLinesSink(BlockingSink):
    """A `Sink` that appends to the file `path`; `index` is a file of ours beside the job."""

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
            self._file = LineFile(path)
        try:
            self._index = KeyIndex(index)
        except BaseException:
            self._file.close()
            raise
        #: Where the file ends if it and the index agree; None: they have to be settled.
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
        self._index.add(Batch.of(start, data), ends)
        with errors_of(self._path):
            self._file.append(data)
        self._end = end

    def _reopen_if_replaced(self) -> None:
        if self._file.is_in_place():
            return
        replacement = LineFile(self._path)
        self._file.close()
        self._file = replacement
        self._end = None

    def _repair(self) -> None:
        batch = self._index.last_batch()
        if batch is None or self._holds(batch):
            self._file.repair(self._file.last_line_start())
        elif self._ends_inside(batch):
            self._file.repair(batch.start)
            rest = self._file.read(batch.start, self._file.size_bytes())
            self._index.shorten(Batch.of(batch.start, rest))
        else:
            logger.warning("%s was changed by someone else; its items are not known", self._path)
            self._file.repair(self._file.last_line_start())
            self._index.forget_all()

    def _holds(self, batch: Batch) -> bool:
        data = self._file.read(batch.start, batch.end)
        return self._reaches(batch) and Batch.of(batch.start, data) == batch

    def _ends_inside(self, batch: Batch) -> bool:
        return self._reaches(batch) and self._file.size_bytes() <= batch.end

    def _reaches(self, batch: Batch) -> bool:
        """Whether the batch can be in this file: it has a line that starts there."""
        return self._file.size_bytes() >= batch.start and self._file.is_line_start(batch.start)
