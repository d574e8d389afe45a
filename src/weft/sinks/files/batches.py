"""Many objects that together hold all items: `<job>-<journal>-<number>.jsonl` under a prefix.

The journal first records the number of a batch and which items it has, then the object is written,
then the journal records that too. An object that is written again, because a process died in
between, has the same name and the same bytes: in this kind of journal, storing an item again does
not change it. So an object never changes once it is there.

Every journal, and thus every machine, has its own name, which is part of its objects' names.

`clear` turns batches into orphans in the same transaction that deletes their items. Their objects
are deleted then, or by the next `show` if the process dies before that.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from weft.clock import Clock, SystemClock
from weft.sinks.disk.errors import errors_of
from weft.sinks.files.formats import ExportRow, render_json_lines
from weft.sinks.files.journal import Journal
from weft.sinks.files.showing import ShowLock
from weft.sinks.files.state import STATE_TABLES, ExportState, Shown

BATCH_ITEMS = 5_000
BATCH_EVERY_S = 60.0

_BATCH_TABLES = (
    """
    CREATE TABLE IF NOT EXISTS batches (
        number INTEGER PRIMARY KEY AUTOINCREMENT, -- no number is used twice
        first_id INTEGER NOT NULL, -- the items of the batch: from this one
        last_id INTEGER NOT NULL, -- to this one
        is_put INTEGER NOT NULL DEFAULT 0,
        is_orphan INTEGER NOT NULL DEFAULT 0
    )
    """,
    "CREATE INDEX IF NOT EXISTS living_batches ON batches (last_id) WHERE is_orphan = 0",
    "CREATE TRIGGER IF NOT EXISTS first_stays BEFORE UPDATE ON items "
    "BEGIN SELECT RAISE(IGNORE); END",
    # Items are only ever deleted all at once, and their ids are then reused.
    "CREATE TRIGGER IF NOT EXISTS make_orphans AFTER DELETE ON items "
    "BEGIN UPDATE batches SET is_orphan = 1 WHERE is_orphan = 0; END",
)

#: The end of the batches whose items still exist.
LAST_ID = "SELECT coalesce(max(last_id), 0) FROM batches WHERE is_orphan = 0"
NEXT_IDS = "SELECT id FROM items WHERE id > ? ORDER BY id LIMIT ?"


class ExportBatch(NamedTuple):
    number: int
    first_id: int
    last_id: int


class Objects(Protocol):
    """Where objects go. Raises as `Destination` does."""

    #: Safe to display: without a password.
    place: str

    def check(self) -> None: ...

    def put(self, name: str, content: Path, sign: Callable[[], None]) -> None: ...

    def delete(self, name: str) -> None:
        """Also called if there is no such object."""
        ...


class BatchOutlet:
    def __init__(
        self,
        journal: Path,
        objects: Objects,
        job: str,
        every_items: int = BATCH_ITEMS,
        every_s: float = BATCH_EVERY_S,
        clock: Clock | None = None,
    ) -> None:
        self.place = objects.place
        self.every_items: float = every_items
        self.every_s = every_s
        self._batch_items = every_items
        self._journal = Journal(journal, (*STATE_TABLES, *_BATCH_TABLES))
        self._state = ExportState(self._journal)
        self._objects = objects
        self._job = job or "items"
        self._clock = clock or SystemClock()
        self._scratch = journal.with_suffix(".tmp")
        self._lock = ShowLock(journal.with_suffix(".lock"))

    def open(self) -> None:
        with errors_of(self._journal.path):
            self._journal.open()
        self._objects.check()

    def show(self, *, is_last: bool) -> None:
        with errors_of(self._journal.path), self._lock.taken(is_patient=is_last):
            self._delete_orphans()
            version = self._make_batches()
            self._put_batches()
            self._state.note_shown(Shown(version, self._clock.now_ms(), 0))

    def abandon(self) -> None:
        """Nothing is done twice here, so what has begun may as well be completed."""

    def clear(self) -> None:
        with errors_of(self._journal.path), self._lock.taken(is_patient=True):
            self._delete_orphans()

    def close(self) -> None:
        self._journal.close()

    def _make_batches(self) -> int:
        """Put all items without a batch into new batches; return the version of the journal."""
        journal = self._journal
        with journal.transaction():
            (end,) = journal.execute(LAST_ID).fetchone()
            while ids := journal.execute(NEXT_IDS, (end, self._batch_items)).fetchall():
                [first], [end] = ids[0], ids[-1]
                journal.execute(
                    "INSERT INTO batches (first_id, last_id) VALUES (?, ?)", (first, end)
                )
            return self._state.version()

    def _put_batches(self) -> None:
        try:
            for batch in self._batches("is_put = 0 AND is_orphan = 0"):
                self._render(batch)
                self._objects.put(self._object_name(batch), self._scratch, self._lock.sign)
                self._journal.execute(
                    "UPDATE batches SET is_put = 1 WHERE number = ?", (batch.number,)
                )
        finally:
            self._scratch.unlink(missing_ok=True)

    def _render(self, batch: ExportBatch) -> None:
        def rows() -> Iterator[ExportRow]:
            return self._journal.rows(self._lock.sign, batch.first_id, batch.last_id)

        with errors_of(self._scratch), self._scratch.open("wb") as file:
            render_json_lines(rows, file)

    def _delete_orphans(self) -> None:
        for batch in self._batches("is_orphan = 1"):
            self._lock.sign()
            self._objects.delete(self._object_name(batch))
            self._journal.execute("DELETE FROM batches WHERE number = ?", (batch.number,))

    def _batches(self, condition: str) -> list[ExportBatch]:
        query = f"SELECT number, first_id, last_id FROM batches WHERE {condition} ORDER BY number"
        return [ExportBatch._make(row) for row in self._journal.execute(query)]

    def _object_name(self, batch: ExportBatch) -> str:
        return f"{self._job}-{self._state.token()}-{batch.number:06}.jsonl"
