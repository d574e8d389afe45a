"""What an export remembers in its journal, beside the items: how much of them has been shown.

The journal is the file of an `SqliteSink`. Triggers count every change of its items, so `version`
is right whoever stores them; the output is complete when `shown_version` has caught up with it.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from weft.errors import StoreError
from weft.sinks.database import BUSY_TIMEOUT_S, close_database, transaction
from weft.sinks.export.formats import Row

#: Rows between two signs of life.
ROWS_PER_SIGN = 1_000

TABLES = (
    """
    CREATE TABLE IF NOT EXISTS export (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        token TEXT NOT NULL, -- tells this journal from all others
        version INTEGER NOT NULL DEFAULT 0,
        shown_version INTEGER NOT NULL DEFAULT -1,
        shown_at_ms INTEGER NOT NULL DEFAULT 0,
        took_ms INTEGER NOT NULL DEFAULT 0,
        stamp TEXT NOT NULL DEFAULT '', -- by which to know the output that is there
        next_stamp TEXT NOT NULL DEFAULT '' -- and the one that was about to take its place
    )
    """,
    "INSERT OR IGNORE INTO export (one, token) VALUES (1, lower(hex(randomblob(4))))",
    *(
        f"CREATE TRIGGER IF NOT EXISTS export_{event} AFTER {event} ON items "
        "BEGIN UPDATE export SET version = version + 1; END"
        for event in ("INSERT", "UPDATE", "DELETE")
    ),
)


class Shown(NamedTuple):
    """The last time that the output was written."""

    version: int
    at_ms: int
    took_ms: int


class Journal:
    """Blocking, for one thread. The `SqliteSink` that stores the items has made the file."""

    def __init__(self, path: Path, tables: Sequence[str] = ()) -> None:
        self.path = path
        self._tables = (*TABLES, *tables)
        self._opened: sqlite3.Connection | None = None

    def open(self) -> None:
        self.close()
        self._opened = sqlite3.connect(self.path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
        self._opened.execute("PRAGMA synchronous = FULL")
        with self.transaction():
            for statement in self._tables:
                self.execute(statement)

    def close(self) -> None:
        connection, self._opened = self._opened, None
        if connection is not None:
            close_database(connection)

    def execute(self, statement: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        if self._opened is None:
            raise StoreError(f"{self.path} is not open")
        return self._opened.execute(statement, values)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing of what is executed inside."""
        if self._opened is None:
            raise StoreError(f"{self.path} is not open")
        with transaction(self._opened):
            yield

    @contextmanager
    def snapshot(self) -> Iterator[int]:
        """All that is read inside is of one moment; the version at that moment."""
        self.execute("BEGIN")
        try:
            yield self.version()
        finally:
            self.execute("ROLLBACK")

    def rows(
        self, sign: Callable[[], None], first_id: int = 0, last_id: int = 2**63 - 1
    ) -> Iterator[Row]:
        """The items in order; `sign` is called again and again meanwhile."""
        query = f"SELECT {', '.join(Row._fields)} FROM items WHERE id BETWEEN ? AND ? ORDER BY id"
        with closing(self.execute(query, (first_id, last_id))) as cursor:
            while batch := cursor.fetchmany(ROWS_PER_SIGN):
                sign()
                yield from map(Row._make, batch)

    def token(self) -> str:
        return str(self._read("token")[0])

    def version(self) -> int:
        (version,) = self._read("version")
        assert isinstance(version, int)
        return version

    def shown(self) -> Shown:
        return Shown._make(self._read("shown_version, shown_at_ms, took_ms"))

    def stamps(self) -> tuple[str, str]:
        """Of the output as it is, and as it is if we died before we could write that down."""
        stamp, next_stamp = self._read("stamp, next_stamp")
        return str(stamp), str(next_stamp)

    def note_next(self, found: str, stamp: str) -> None:
        """The output, which is `found` now, is about to become `stamp`."""
        self.execute("UPDATE export SET stamp = ?, next_stamp = ?", (found, stamp))

    def note_shown(self, shown: Shown) -> None:
        """The output has all items of that version."""
        self.execute(
            "UPDATE export SET shown_version = ?, shown_at_ms = ?, took_ms = ?, stamp = next_stamp",
            shown,
        )

    def _read(self, columns: str) -> tuple[object, ...]:
        row = self.execute(f"SELECT {columns} FROM export").fetchone()
        return tuple(row)


def journal_path(job_dir: Path, digest: str) -> Path:
    return job_dir / f"export-{digest}.db"


def has_unshown_items(job_dir: Path) -> bool:
    """Whether a journal there has items that are not in its output."""
    return any(map(is_behind, job_dir.glob("export-*.db")))


def is_behind(path: Path) -> bool:
    """Whether a journal has items that are not in its output."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            query = "SELECT version > max(shown_version, 0) FROM export"
            return bool(database.execute(query).fetchone() == (1,))
    except sqlite3.OperationalError:  # killed before it had the table: nothing was stored
        return False
    except sqlite3.DatabaseError:  # it is broken; whoever opens it tells
        return True
