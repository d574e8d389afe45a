"""Which items a file of JSON lines holds: a side index in SQLite.

A batch is recorded before its lines are written: its keys, where each line ends, where the batch
starts and ends, and a digest of its bytes. So whatever the file looks like later, the index can
tell a batch that was cut short (and forget the keys after the cut) from a complete one.

Keys come in random order. Once there are many, inserting each of them directly would write a page
of the database per key. So they are appended first, and sorted in when there are enough of them.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path

import msgspec

from weft.sinks.disk.errors import errors_of
from weft.sinks.disk.sqlitefile import close_sqlite, open_sqlite, transaction

#: Increased when an older Weft can no longer read the index.
FORMAT = 2
#: Keys per query.
ASKED_TOGETHER = 500
#: Keys that are sorted in together; until then they are also in memory.
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


class KeyBatch(msgspec.Struct, frozen=True):
    """The bytes of the file that were written at once."""

    start: int
    end: int
    digest: bytes

    @classmethod
    def of(cls, start: int, data: bytes) -> "KeyBatch":
        return cls(start, start + len(data), blake2b(data, digest_size=16).digest())


class KeyIndex:
    """Open from construction until `close`. Every change is one transaction, on disk on return."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with errors_of(path):
            self._connection = open_sqlite(path, SCHEMA, FORMAT, UPGRADES)
        #: Keys that are not sorted in yet; None: read them from the database.
        self._recent: set[bytes] | None = None

    def known(self, keys: Iterable[bytes]) -> set[bytes]:
        asked = list(keys)
        with errors_of(self._path):
            known = self._recent_keys().intersection(asked)
            for first in range(0, len(asked), ASKED_TOGETHER):
                some = asked[first : first + ASKED_TOGETHER]
                query = f"SELECT key FROM keys WHERE key IN ({','.join('?' * len(some))})"
                known.update(key for (key,) in self._connection.execute(query, some))
        return known

    def last_batch(self) -> KeyBatch | None:
        query = "SELECT start_byte, end_byte, digest FROM last_batch"
        with errors_of(self._path):
            row = self._connection.execute(query).fetchone()
        return KeyBatch(*row) if row else None

    def add(self, batch: KeyBatch, ends: Sequence[tuple[bytes, int]]) -> None:
        """Record a batch and its keys, which are new, each with the end of its line."""
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

    def shorten(self, batch: KeyBatch) -> None:
        """Only `batch` is left of the last batch: forget the keys of the lines after it."""
        self._recent = None
        with errors_of(self._path), transaction(self._connection):
            # Reads all keys. That is rare, and cheaper than an index on the ends.
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
        close_sqlite(self._connection)

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

    def _set_last(self, batch: KeyBatch) -> None:
        self._connection.execute(
            "INSERT OR REPLACE INTO last_batch (id, start_byte, end_byte, digest)"
            " VALUES (1, ?, ?, ?)",
            (batch.start, batch.end, batch.digest),
        )
