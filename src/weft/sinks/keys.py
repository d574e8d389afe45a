"""Which items a file of JSON lines holds: a side index in SQLite.

A batch is recorded before its lines are written: its keys, where each line ends, where the batch
starts and ends, and a digest of its bytes. So whatever the file looks like later, the index can
tell a batch that was cut short (forget the keys behind the cut) from one that is there.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path

import msgspec

from weft.sinks.database import close_database, open_database, transaction
from weft.sinks.translate import errors_of

#: Grows when an older Weft could not read the index any more.
FORMAT = 1

SCHEMA = (
    "CREATE TABLE keys (key BLOB PRIMARY KEY, end_byte INTEGER NOT NULL) WITHOUT ROWID",
    """
    CREATE TABLE last_batch (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        start_byte INTEGER NOT NULL,
        end_byte INTEGER NOT NULL,
        digest BLOB NOT NULL
    )
    """,
)


class Batch(msgspec.Struct, frozen=True):
    """A part of the file, written at once."""

    start: int
    end: int
    digest: bytes

    @classmethod
    def of(cls, start: int, data: bytes) -> "Batch":
        return cls(start, start + len(data), blake2b(data, digest_size=16).digest())


class KeyIndex:
    """Open from construction until `close`. Every change is one transaction, on disk on return."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with errors_of(path):
            self._connection = open_database(path, SCHEMA, FORMAT)

    def known(self, keys: Iterable[bytes]) -> set[bytes]:
        query = "SELECT 1 FROM keys WHERE key = ?"
        with errors_of(self._path):
            return {key for key in keys if self._connection.execute(query, (key,)).fetchone()}

    def last_batch(self) -> Batch | None:
        query = "SELECT start_byte, end_byte, digest FROM last_batch"
        with errors_of(self._path):
            row = self._connection.execute(query).fetchone()
        return Batch(*row) if row else None

    def add(self, batch: Batch, ends: Sequence[tuple[bytes, int]]) -> None:
        """Record a batch: its keys, each with the end of its line."""
        with errors_of(self._path), transaction(self._connection):
            self._connection.executemany("INSERT INTO keys (key, end_byte) VALUES (?, ?)", ends)
            self._set_last(batch)

    def shorten(self, batch: Batch) -> None:
        """Only `batch` is left of the last batch: forget the keys of the lines behind it."""
        with errors_of(self._path), transaction(self._connection):
            # Reads all keys. That is rare, and cheaper than an index on every key's end.
            self._connection.execute("DELETE FROM keys WHERE end_byte > ?", (batch.end,))
            self._set_last(batch)

    def forget_all(self) -> None:
        with errors_of(self._path), transaction(self._connection):
            self._connection.execute("DELETE FROM keys")
            self._connection.execute("DELETE FROM last_batch")

    def close(self) -> None:
        close_database(self._connection)

    def _set_last(self, batch: Batch) -> None:
        self._connection.execute(
            "INSERT OR REPLACE INTO last_batch (id, start_byte, end_byte, digest)"
            " VALUES (1, ?, ?, ?)",
            (batch.start, batch.end, batch.digest),
        )
