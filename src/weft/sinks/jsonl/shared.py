"""JSON lines from several workers at once: a spool for each, merged by key into one file.

A worker appends its items to a spool, its own file in the job's directory (fsync), and holds a lock
on it as long as it is alive. Soon after it has stored something, and when it closes, a worker takes
the merge lock, which all workers share, and merges into the output:

* its own spool, which it then empties;
* the spools that no worker holds, because theirs were killed. They are then deleted.

The output is written as by `JsonLinesSink`, and its index knows the keys. So a spool, or half
of one, may be merged any number of times: the next merge simply repeats an interrupted one.

No worker has to be the last: one that has closed has merged its own spool, and a worker that was
suspended for an hour does so when it closes. Only spools of workers that were killed after all
others had closed are left over. The next `open` merges them.

`clear` also deletes the spools of running workers. What they stored before is gone, as intended.
What they store later is not: a worker notices that its spool was deleted and creates another one
before it reports the items as stored.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from math import inf
from pathlib import Path
from uuid import uuid4

from weft.clock import monotonic_s
from weft.errors import StoreError, StoreLockedError
from weft.sinks.base import KeyedItem, Refusal
from weft.sinks.disk.blocking import BlockingSink
from weft.sinks.disk.errors import errors_of
from weft.sinks.disk.filelock import FileLock
from weft.sinks.disk.names import prepare_path, sync_directory
from weft.sinks.encoding import KeyedLine, encode_item
from weft.sinks.jsonl.readback import read_lines
from weft.sinks.jsonl.sink import LineWriter
from weft.sinks.jsonl.spool import SPOOL_SUFFIX, Spool
from weft.sinks.readback import Query, StoredItem, read_off_loop

#: How far the output may lag behind what is stored.
MERGE_EVERY_S = 5.0
#: How long to wait for a worker that is merging but makes no progress.
STUCK_S = 30.0


class SharedJsonLinesSink(BlockingSink):
    """A `Sink` that shares the file `path` with all sinks that have the same `index` and `spools`.

    `spools` is a directory of ours. Of two items with the same key, the first to be merged is kept.
    """

    def __init__(
        self, path: Path, index: Path, spools: Path, merge_every_s: float = MERGE_EVERY_S
    ) -> None:
        super().__init__("weft-shared-sink", str(path))
        self._path = path
        self._index_path = index
        self._spools = spools
        self._lock = FileLock(spools / "lock")
        self._merge_every_s = merge_every_s
        self._merged_at_s = -inf
        self._is_behind = False
        self._catching_up: asyncio.Task[None] | None = None
        self._spool: Spool | None = None

    def read(self, query: Query) -> AsyncIterator[StoredItem]:
        """Read what has been merged: the last seconds of a running crawl are missing."""
        return read_off_loop(read_lines(self._path, query))

    async def store(self, items: Sequence[KeyedItem]) -> Sequence[Refusal]:
        refused = await super().store(items)
        if self._is_behind and (self._catching_up is None or self._catching_up.done()):
            self._catching_up = asyncio.ensure_future(self._catch_up())
        return refused

    async def close(self) -> None:
        if self._catching_up is not None:
            self._catching_up.cancel()
        await super().close()

    async def _catch_up(self) -> None:
        """Merge what was stored last: it may be long until more is stored."""
        while self._is_behind:
            await asyncio.sleep(self._merge_every_s)
            with suppress(StoreError):  # the next `store` tells
                await self._thread.run(self._try_merge)

    def _open(self) -> None:
        self._close()
        with self._merging(STUCK_S):
            self._merge()  # even if there are no items: reports an invalid output now
            self._spool = self._new_spool()

    def _store(self, items: Sequence[KeyedItem]) -> None:
        self._opened()
        if not items:
            return
        with errors_of(self._spools):
            self._append([encode_item(item) for item in items])
        self._is_behind = True
        if monotonic_s() - self._merged_at_s >= self._merge_every_s:
            self._try_merge()

    def _clear(self) -> None:
        self._opened()
        with self._merging(STUCK_S):
            for path in self._spool_paths():
                path.unlink(missing_ok=True)
            sync_directory(self._spools)  # if a spool came back, so would its old items
            with closing(LineWriter(self._path, self._index_path)) as writer:
                writer.clear()

    def _close(self) -> None:
        spool, self._spool = self._spool, None
        if spool is None:
            return
        with closing(spool), self._merging(STUCK_S):
            self._merge(spool)
            spool.delete()

    def _opened(self) -> Spool:
        if self._spool is None:
            raise StoreError(f"{self._path} is not open")
        return self._spool

    # Our own spool

    def _append(self, lines: Sequence[KeyedLine]) -> None:
        spool = self._opened()
        spool.append(lines)
        while not spool.is_at_path():  # a `clear` may have happened before these lines
            spool = self._replace(spool)
            spool.append(lines)

    def _replace(self, spool: Spool) -> Spool:
        with self._merging(STUCK_S):
            self._spool = self._new_spool()
        spool.close()
        return self._spool

    def _new_spool(self) -> Spool:
        # Only while merging: no other worker may find it before it is locked.
        return Spool(self._spools / f"{uuid4().hex}{SPOOL_SUFFIX}")

    # Merging

    @contextmanager
    def _merging(self, wait_s: float) -> Iterator[None]:
        """Hold the merge lock, one worker at a time; errors say where the items are."""
        try:
            with errors_of(self._spools):
                prepare_path(self._lock.path)
                with self._lock.locked(wait_s):
                    yield
        except StoreError as problem:
            if not self._has_items():
                raise
            raise type(problem)(
                f"{problem}. The items that are not in {self._path} yet are safe in {self._spools}"
                "; run the same command again to put them there"
            ) from problem

    def _try_merge(self) -> None:
        """Merge now, or leave it for later if another process is merging or holds the output."""
        with suppress(StoreLockedError), self._merging(wait_s=0):
            self._merge(self._spool)
            self._is_behind = False
            self._merged_at_s = monotonic_s()

    def _merge(self, own: Spool | None = None) -> None:
        with closing(LineWriter(self._path, self._index_path)) as writer:
            writer.settle()
            for spool in self._abandoned():
                with closing(spool):
                    self._move(spool, writer)
                    spool.delete()
            if own is not None and own.is_at_path():
                self._move(own, writer)
                own.empty()

    def _move(self, spool: Spool, writer: LineWriter) -> None:
        for batch in spool.batches():
            writer.store(batch)
            self._lock.touch()

    def _abandoned(self) -> Iterator[Spool]:
        for path in self._spool_paths():
            try:
                spool = Spool(path)
            except StoreLockedError:  # its worker is alive
                continue
            yield spool

    def _spool_paths(self) -> list[Path]:
        return sorted(self._spools.glob(f"*{SPOOL_SUFFIX}"))

    def _has_items(self) -> bool:
        with suppress(OSError):
            return any(path.stat().st_size for path in self._spool_paths())
        return False
