"""Many objects that have all items together: `<job>-<journal>-<number>.jsonl` under a prefix.

How an item gets there: a batch is first fixed in the journal, which items it has and its number,
then its object is put, then the journal is told so. An object that is put again, because someone
died in between, has the same name and the same bytes: an item that is stored again does not change
any more in this kind of journal. So whoever reads an object may take it for final.

Every journal, thus every machine, has a name of its own in the names of its objects.

`clear` makes batches orphans in the very transaction that deletes their items; their objects are
deleted then, or at the next turn if someone dies before that.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from weft.clock import Clock, SystemClock
from weft.sinks.export.formats import Row, render_json_lines
from weft.sinks.export.journal import Journal, Shown
from weft.sinks.export.turn import Turn
from weft.sinks.translate import errors_of

BATCH_ITEMS = 5_000
BATCH_EVERY_S = 60.0

TABLES = (
    """
    CREATE TABLE IF NOT EXISTS batches (
        number INTEGER PRIMARY KEY AUTOINCREMENT, -- no number is used twice
        first_id INTEGER NOT NULL, -- of the items, which are those from here
        last_id INTEGER NOT NULL, -- up to here
        is_put INTEGER NOT NULL DEFAULT 0,
        is_orphan INTEGER NOT NULL DEFAULT 0
    )
    """,
    "CREATE INDEX IF NOT EXISTS living_batches ON batches (last_id) WHERE is_orphan = 0",
    "CREATE TRIGGER IF NOT EXISTS first_stays BEFORE UPDATE ON items "
    "BEGIN SELECT RAISE(IGNORE); END",
    # Items are only ever deleted all together, and their ids are then used again.
    "CREATE TRIGGER IF NOT EXISTS make_orphans AFTER DELETE ON items "
    "BEGIN UPDATE batches SET is_orphan = 1 WHERE is_orphan = 0; END",
)

#: Where the batches end that have their items still.
LAST_ID = "SELECT coalesce(max(last_id), 0) FROM batches WHERE is_orphan = 0"
NEXT_IDS = "SELECT id FROM items WHERE id > ? ORDER BY id LIMIT ?"


class Batch(NamedTuple):
    number: int
    first_id: int
    last_id: int


class Objects(Protocol):
    """Where objects go. Raises as `Place` does."""

    #: As it may be shown: without a password.
    name: str

    def check(self) -> None: ...

    def put(self, name: str, content: Path, sign: Callable[[], None]) -> None: ...

    def delete(self, name: str) -> None:
        """Also called if there is none."""
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
        self.place = objects.name
        self.every_items: float = every_items
        self.every_s = every_s
        self._batch_items = every_items
        self._journal = Journal(journal, TABLES)
        self._objects = objects
        self._job = job or "items"
        self._clock = clock or SystemClock()
        self._scratch = journal.with_suffix(".tmp")
        self._turn = Turn(journal.with_suffix(".lock"))

    def open(self) -> None:
        with errors_of(self._journal.path):
            self._journal.open()
        self._objects.check()

    def show(self, *, is_last: bool) -> None:
        with errors_of(self._journal.path), self._turn.taken(is_patient=is_last):
            self._delete_orphans()
            version = self._fix_batches()
            self._put_batches()
            self._journal.note_shown(Shown(version, self._clock.now_ms(), 0))

    def abandon(self) -> None:
        """Nothing is done twice here, so what is under way may as well be completed."""

    def clear(self) -> None:
        with errors_of(self._journal.path), self._turn.taken(is_patient=True):
            self._delete_orphans()

    def close(self) -> None:
        self._journal.close()

    def _fix_batches(self) -> int:
        """Put all items that are in no batch into new ones; the version that they are of."""
        journal = self._journal
        with journal.transaction():
            (end,) = journal.execute(LAST_ID).fetchone()
            while ids := journal.execute(NEXT_IDS, (end, self._batch_items)).fetchall():
                [first], [end] = ids[0], ids[-1]
                journal.execute(
                    "INSERT INTO batches (first_id, last_id) VALUES (?, ?)", (first, end)
                )
            return journal.version()

    def _put_batches(self) -> None:
        try:
            for batch in self._batches("is_put = 0 AND is_orphan = 0"):
                self._render(batch)
                self._objects.put(self._object_name(batch), self._scratch, self._turn.sign)
                self._journal.execute(
                    "UPDATE batches SET is_put = 1 WHERE number = ?", (batch.number,)
                )
        finally:
            self._scratch.unlink(missing_ok=True)

    def _render(self, batch: Batch) -> None:
        def rows() -> Iterator[Row]:
            return self._journal.rows(self._turn.sign, batch.first_id, batch.last_id)

        with errors_of(self._scratch), self._scratch.open("wb") as file:
            render_json_lines(rows, file)

    def _delete_orphans(self) -> None:
        for batch in self._batches("is_orphan = 1"):
            self._turn.sign()
            self._objects.delete(self._object_name(batch))
            self._journal.execute("DELETE FROM batches WHERE number = ?", (batch.number,))

    def _batches(self, condition: str) -> list[Batch]:
        query = f"SELECT number, first_id, last_id FROM batches WHERE {condition} ORDER BY number"
        return [Batch._make(row) for row in self._journal.execute(query)]

    def _object_name(self, batch: Batch) -> str:
        return f"{self._job}-{self._journal.token()}-{batch.number:06}.jsonl"
