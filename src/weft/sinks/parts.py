"""JSON lines from several workers at once: a part for each, merged by key into one file.

How an item gets there: its worker appends it to a part, a file of its own in the job's directory
(fsync), and holds a lock on that part for as long as it lives. From time to time, and when it
closes, a worker takes the lock of merging, which is there once for all, and puts into the output:

* its own part, which it empties;
* the parts that nobody holds: their workers were killed. They are deleted.

The output is written as by `JsonLinesSink`, whose index knows the keys. So a part, or half of one,
may be merged any number of times: a merge that was interrupted is simply repeated by the next one.

Nobody has to be the last: who has closed has merged its own part, and a worker that was stopped for
an hour does the same when it comes to its end. Only parts of workers that were killed after all
others had closed are left over. The next `open` takes them up.

`clear` deletes the parts of living workers too. What they had stored before is gone, as it should
be. What they store later is not: a worker sees that its part has no name any more and makes
another one before it says that the items are stored.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from math import inf
from pathlib import Path
from uuid import uuid4

from weft.clock import monotonic_s
from weft.errors import StoreError, StoreLockedError
from weft.sinks.base import KeyedItem
from weft.sinks.blocking import BlockingSink
from weft.sinks.encoding import KeyedLine, encode_item
from weft.sinks.filelock import FileLock
from weft.sinks.files import prepare_place, sync_directory
from weft.sinks.jsonl import LineWriter
from weft.sinks.lineread import read_lines
from weft.sinks.partfile import PartFile
from weft.sinks.reading import Query, StoredItem, read_off_loop
from weft.sinks.translate import errors_of

#: How far the output may be behind what is stored, while more is being stored.
MERGE_EVERY_S = 5.0
#: How long to wait for a worker that merges and does not get on.
STUCK_S = 30.0


class PartedJsonLinesSink(BlockingSink):
    """A `Sink` that shares the file `path` with all that have the same `index` and `parts`.

    `parts` is a directory of ours. Of two items with one key, the one that is merged first stays.
    """

    def __init__(
        self, path: Path, index: Path, parts: Path, merge_every_s: float = MERGE_EVERY_S
    ) -> None:
        super().__init__("weft-parted-sink", str(path))
        self._path = path
        self._index_path = index
        self._parts = parts
        self._lock = FileLock(parts / "lock")
        self._merge_every_s = merge_every_s
        self._merged_at_s = -inf
        self._part: PartFile | None = None

    def read(self, query: Query) -> AsyncIterator[StoredItem]:
        """What was merged: the last seconds of a running crawl are not among it."""
        return read_off_loop(read_lines(self._path, query))

    def _open(self) -> None:
        self._close()
        with self._merging(STUCK_S):
            self._merge()  # also if there is nothing: an output that cannot be is told now
            self._part = self._new_part()

    def _store(self, items: Sequence[KeyedItem]) -> None:
        self._opened()
        if not items:
            return
        with errors_of(self._parts):
            self._append([encode_item(item) for item in items])
        if monotonic_s() - self._merged_at_s >= self._merge_every_s:
            self._try_merge()

    def _clear(self) -> None:
        self._opened()
        with self._merging(STUCK_S):
            for path in self._part_paths():
                path.unlink(missing_ok=True)
            sync_directory(self._parts)  # a part that came back would bring old items
            with closing(LineWriter(self._path, self._index_path)) as writer:
                writer.clear()

    def _close(self) -> None:
        part, self._part = self._part, None
        if part is None:
            return
        with closing(part), self._merging(STUCK_S):
            self._merge(part)
            part.delete()

    def _opened(self) -> PartFile:
        if self._part is None:
            raise StoreError(f"{self._path} is not open")
        return self._part

    # The own part

    def _append(self, lines: Sequence[KeyedLine]) -> None:
        part = self._opened()
        part.append(lines)
        while not part.is_in_place():  # a `clear` may have come before these lines
            part = self._replace(part)
            part.append(lines)

    def _replace(self, part: PartFile) -> PartFile:
        with self._merging(STUCK_S):
            self._part = self._new_part()
        part.close()
        return self._part

    def _new_part(self) -> PartFile:
        # Only while merging: nobody else may come across it before it is locked.
        return PartFile(self._parts / f"{uuid4().hex}.part")

    # Merging

    @contextmanager
    def _merging(self, wait_s: float) -> Iterator[None]:
        """The right to merge, which one worker has at a time; errors tell where the items are."""
        try:
            with errors_of(self._parts):
                prepare_place(self._lock.path)
                with self._lock.held(wait_s):
                    yield
        except StoreError as problem:
            if not self._has_items():
                raise
            raise type(problem)(
                f"{problem}. The items that are not in {self._path} yet are safe in {self._parts}; "
                "the same command puts them there"
            ) from problem

    def _try_merge(self) -> None:
        """Merge, unless someone else is at it or has the output: there will be another time."""
        with suppress(StoreLockedError), self._merging(wait_s=0):
            self._merge(self._part)
            self._merged_at_s = monotonic_s()

    def _merge(self, own: PartFile | None = None) -> None:
        with closing(LineWriter(self._path, self._index_path)) as writer:
            writer.settle()
            for part in self._abandoned():
                with closing(part):
                    self._move(part, writer)
                    part.delete()
            if own is not None and own.is_in_place():
                self._move(own, writer)
                own.empty()

    def _move(self, part: PartFile, writer: LineWriter) -> None:
        for batch in part.batches():
            writer.store(batch)
            self._lock.touch()

    def _abandoned(self) -> Iterator[PartFile]:
        for path in self._part_paths():
            try:
                part = PartFile(path)
            except StoreLockedError:  # its worker lives
                continue
            yield part

    def _part_paths(self) -> list[Path]:
        return sorted(self._parts.glob("*.part"))

    def _has_items(self) -> bool:
        with suppress(OSError):
            return any(path.stat().st_size for path in self._part_paths())
        return False
