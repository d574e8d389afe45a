"""Items in an SQLite file: `sqlite3 items.db 'select item from items'` reads them in order."""

import sqlite3
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from weft.clock import Clock, SystemClock
from weft.errors import StoreError
from weft.sinks.base import KeyedItem
from weft.sinks.disk.blocking import BlockingSink
from weft.sinks.disk.errors import errors_of
from weft.sinks.disk.sqlitefile import close_sqlite, open_sqlite, transaction
from weft.sinks.encoding import encode_fields
from weft.sinks.readback import Query, StoredItem, read_off_loop
from weft.sinks.sqlite.readback import read_sqlite

#: Increased when an older Weft can no longer write the file.
FORMAT = 2

# `id` keeps the order in which the items first arrived: an update does not change it.
SCHEMA = (
    """
    CREATE TABLE items (
        id INTEGER PRIMARY KEY,
        key BLOB NOT NULL UNIQUE,
        item TEXT NOT NULL, -- a JSON object
        stored_at_ms INTEGER NOT NULL,
        job TEXT NOT NULL DEFAULT '',
        page TEXT NOT NULL DEFAULT '',
        fetched_at_ms INTEGER NOT NULL DEFAULT 0
    )
    """,
)
UPGRADES = {
    2: (
        "ALTER TABLE items ADD COLUMN job TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE items ADD COLUMN page TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE items ADD COLUMN fetched_at_ms INTEGER NOT NULL DEFAULT 0",
    )
}

UPSERT = """
    INSERT INTO items (key, item, stored_at_ms, job, page, fetched_at_ms) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET
        item = excluded.item, stored_at_ms = excluded.stored_at_ms, job = excluded.job,
        page = excluded.page, fetched_at_ms = excluded.fetched_at_ms
"""


class SqliteSink(BlockingSink):
    """A `Sink` in one table of an SQLite file. Others may read it, or write to it, meanwhile."""

    def __init__(self, path: Path, job: str = "", clock: Clock | None = None) -> None:
        super().__init__("weft-sqlite-sink", str(path))
        self._path = path
        self._job = job
        self._clock = clock or SystemClock()
        self._connection: sqlite3.Connection | None = None
        self._opened_identity: tuple[int, int] | None = None

    def read(self, query: Query) -> AsyncIterator[StoredItem]:
        return read_off_loop(read_sqlite(self._path, query, FORMAT))

    def _open(self) -> None:
        self._close()
        with errors_of(self._path):
            self._connection = open_sqlite(self._path, SCHEMA, FORMAT, UPGRADES)
            self._opened_identity = self._identity()

    def _store(self, items: Sequence[KeyedItem]) -> None:
        with errors_of(self._path):
            connection = self._writable()
        now_ms = self._clock.now_ms()
        rows = [self._row(item, now_ms) for item in items]
        with errors_of(self._path), transaction(connection):
            connection.executemany(UPSERT, rows)

    def _row(self, item: KeyedItem, now_ms: int) -> tuple[object, ...]:
        text = encode_fields(item.fields).decode()
        return item.key, text, now_ms, self._job, item.page, item.fetched_at_ms

    def _clear(self) -> None:
        with errors_of(self._path):
            connection = self._writable()
            with transaction(connection):
                # Also rows of an older Weft, which did not record the job.
                connection.execute("DELETE FROM items WHERE job IN (?, '')", (self._job,))

    def _writable(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StoreError(f"{self._path} is not open")
        # SQLite would keep writing to the deleted file.
        if self._identity() != self._opened_identity:
            raise StoreError(f"{self._path} was moved or deleted; run the same command again")
        return self._connection

    def _identity(self) -> tuple[int, int] | None:
        """Which file the path names; None if there is none."""
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return None
        return status.st_dev, status.st_ino

    def _close(self) -> None:
        if self._connection is not None:
            close_sqlite(self._connection)
            self._connection = None
