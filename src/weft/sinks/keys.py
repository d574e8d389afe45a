"""Which items a file of JSON lines holds: a side index in SQLite.

A batch is recorded before its lines are written: its keys, where each line ends, where the batch
starts and ends, and a digest of its bytes. So whatever the file looks like later, the index can
tell a batch that was cut short (forget the keys behind the cut) from one that is there.

Keys come in no order. Each of them in its place at once would be a page of the database to write
for each key, once there are many; so they are put down one after the other first, and sorted in
when there are enough of them.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path

import msgspec

from weft.sinks.database import close_database, open_database, transaction
from weft.sinks.translate import errors_of

#: Grows when an older Weft could not read the index any more.
FORMAT = 2
#: Keys that one query is about.
ASKED_TOGETHER = 500
#: Keys that are sorted in together; until then they are in memory too.
SORTED_TOGETHER = 20_000

_RECENT_TABLE = (
    "CREATE TABLE recent (id INTEGER PRIMARY KEY, key BLOB NOT NULL, end_byte INTEGER NOT NULL)"
)
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
    _RECENT_TABLE,
)
UPGRADES = {2: (_RECENT_TABLE,)}


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
            self._connection = open_database(path, SCHEMA, FORMAT, UPGRADES)
        #: Those that are not sorted in; None: as the database says.
        self._recent: set[bytes] | None = None

    def known(self, keys: Iterable[bytes]) -> set[bytes]:
        asked = list(keys)
        with errors_of(self._path):
            known = self._recent_keys().intersection(asked)
            for first in range(0, len(asked), ASKED_TOGETHER):
                part = asked[first : first + ASKED_TOGETHER]
                query = f"SELECT key FROM keys WHERE key IN ({','.join('?' * len(part))})"
                known.update(key for (key,) in self._connection.execute(query, part))
        return known

    def last_batch(self) -> Batch | None:
        query = "SELECT start_byte, end_byte, digest FROM last_batch"
        with errors_of(self._path):
            row = self._connection.execute(query).fetchone()
        return Batch(*row) if row else None

    def add(self, batch: Batch, ends: Sequence[tuple[bytes, int]]) -> None:
        """Record a batch: its keys, which are not known, each with the end of its line."""
        with errors_of(self._path):
            recent, self._recent = self._recent_keys(), None
            if len(recent) >= SORTED_TOGETHER:
                self._sort_in()
                recent = set()
            with transaction(self._connection):
                query = "INSERT INTO recent (key, end_byte) VALUES (?, ?)"
                self._connection.executemany(query, ends)
                self._set_last(batch)
        recent.update(key for key, _ in ends)
        self._recent = recent

    def shorten(self, batch: Batch) -> None:
        """Only `batch` is left of the last batch: forget the keys of the lines behind it."""
        self._recent = None
        with errors_of(self._path), transaction(self._connection):
            # Reads all keys. That is rare, and cheaper than an index on every key's end.
            self._connection.execute("DELETE FROM keys WHERE end_byte > ?", (batch.end,))
            self._connection.execute("DELETE FROM recent WHERE end_byte > ?", (batch.end,))
            self._set_last(batch)

    def forget_all(self) -> None:
        self._recent = None
        with errors_of(self._path), transaction(self._connection):
            self._connection.execute("DELETE FROM keys")
            self._connection.execute("DELETE FROM recent")
            self._connection.execute("DELETE FROM last_batch")

    def close(self) -> None:
        close_database(self._connection)

    def _recent_keys(self) -> set[bytes]:
        if self._recent is None:
            self._recent = {key for (key,) in self._connection.execute("SELECT key FROM recent")}
        return self._recent

    def _sort_in(self) -> None:
        with transaction(self._connection):
            self._connection.execute(
                "INSERT INTO keys (key, end_byte) SELECT key, end_byte FROM recent ORDER BY key"
            )
            self._connection.execute("DELETE FROM recent")

    def _set_last(self, batch: Batch) -> None:
        self._connection.execute(
            "INSERT OR REPLACE INTO last_batch (id, start_byte, end_byte, digest)"
            " VALUES (1, ?, ?, ?)",
            (batch.start, batch.end, batch.digest),
        )
