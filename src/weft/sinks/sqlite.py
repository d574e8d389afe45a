"""Items in an SQLite file: `sqlite3 items.db 'select item from items'` reads them in order."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from weft.clock import Clock, SystemClock
from weft.errors import StoreError
from weft.sinks.base import KeyedItem
from weft.sinks.blocking import BlockingSink
from weft.sinks.database import close_database, open_database, transaction
from weft.sinks.encoding import encode_fields
from weft.sinks.translate import errors_of

#: Grows when an older Weft could not write the file any more.
FORMAT = 1

# `id` keeps the order in which the items came first: an update does not change it.
SCHEMA = (
    """
    CREATE TABLE items (
        id INTEGER PRIMARY KEY,
        key BLOB NOT NULL UNIQUE,
        item TEXT NOT NULL, -- a JSON object
        stored_at_ms INTEGER NOT NULL
    )
    """,
)

UPSERT = """
    INSERT INTO items (key, item, stored_at_ms) VALUES (?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET item = excluded.item, stored_at_ms = excluded.stored_at_ms
"""


class SqliteSink(BlockingSink):
    """A `Sink` in one table of an SQLite file. Others may read it, or write to it, meanwhile."""

    def __init__(self, path: Path, clock: Clock | None = None) -> None:
        super().__init__("weft-sqlite-sink")
        self._path = path
        self._clock = clock or SystemClock()
        self._connection: sqlite3.Connection | None = None
        self._opened_identity: tuple[int, int] | None = None

    def _open(self) -> None:
        self._close()
        with errors_of(self._path):
            self._connection = open_database(self._path, SCHEMA, FORMAT)
            self._opened_identity = self._identity()

    def _store(self, items: Sequence[KeyedItem]) -> None:
        with errors_of(self._path):
            connection = self._writable()
        now_ms = self._clock.now_ms()
        rows = [(item.key, encode_fields(item.fields).decode(), now_ms) for item in items]
        with errors_of(self._path), transaction(connection):
            connection.executemany(UPSERT, rows)

    def _clear(self) -> None:
        with errors_of(self._path):
            connection = self._writable()
            with transaction(connection):
                connection.execute("DELETE FROM items")

    def _writable(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StoreError(f"{self._path} is not open")
        # SQLite would go on writing into the file that has no name any more.
        if self._identity() != self._opened_identity:
            raise StoreError(f"{self._path} was moved or deleted; run the same command again")
        return self._connection

    def _identity(self) -> tuple[int, int] | None:
        """Which file the path names; None: it names none."""
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return None
        return status.st_dev, status.st_ino

    def _close(self) -> None:
        if self._connection is not None:
            close_database(self._connection)
            self._connection = None
