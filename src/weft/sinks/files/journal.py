"""The journal of an export: the items that its output shows, and will show.

It is the file of an `SqliteSink`, which stores the items.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from weft.errors import StoreError
from weft.sinks.disk.sqlitefile import BUSY_TIMEOUT_S, close_sqlite, transaction
from weft.sinks.files.formats import ExportRow

#: Rows between two signs of life.
ROWS_PER_SIGN = 1_000


class Journal:
    """Blocking, for one thread. The `SqliteSink` has created the file; `tables` are the statements
    that create what an outlet keeps there besides."""

    def __init__(self, path: Path, tables: Sequence[str]) -> None:
        self.path = path
        self._tables = tables
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
            close_sqlite(connection)

    def execute(self, statement: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        if self._opened is None:
            raise StoreError(f"{self.path} is not open")
        return self._opened.execute(statement, values)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Execute all of the statements inside or none of them."""
        if self._opened is None:
            raise StoreError(f"{self.path} is not open")
        with transaction(self._opened):
            yield

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything read inside is from one moment."""
        self.execute("BEGIN")
        try:
            yield
        finally:
            self.execute("ROLLBACK")

    def rows(
        self, sign: Callable[[], None], first_id: int = 0, last_id: int = 2**63 - 1
    ) -> Iterator[ExportRow]:
        """Yield the items in order; call `sign` repeatedly meanwhile."""
        query = (
            f"SELECT {', '.join(ExportRow._fields)} FROM items WHERE id BETWEEN ? AND ? ORDER BY id"
        )
        with closing(self.execute(query, (first_id, last_id))) as cursor:
            while batch := cursor.fetchmany(ROWS_PER_SIGN):
                sign()
                yield from map(ExportRow._make, batch)


def journal_path(job_dir: Path, digest: str) -> Path:
    return job_dir / f"export-{digest}.db"


def journals_in(job_dir: Path) -> Iterator[Path]:
    return job_dir.glob("export-*.db")
