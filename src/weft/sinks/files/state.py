"""How far an output is behind its journal: one row of the journal says so.

Triggers count every change of the items, so `version` is right whichever process stores them; the
output is complete when `shown_version` equals it.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from weft.sinks.files.journal import Journal, journals_in

STATE_TABLES = (
    """
    CREATE TABLE IF NOT EXISTS export (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        token TEXT NOT NULL, -- tells this journal from all others
        version INTEGER NOT NULL DEFAULT 0,
        shown_version INTEGER NOT NULL DEFAULT -1,
        shown_at_ms INTEGER NOT NULL DEFAULT 0,
        took_ms INTEGER NOT NULL DEFAULT 0,
        stamp TEXT NOT NULL DEFAULT '', -- by which to know the output that is there
        next_stamp TEXT NOT NULL DEFAULT '' -- and the one that was about to replace it
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


class ExportState:
    """Read from the journal with every call, and written to it."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def token(self) -> str:
        """Distinguishes this journal from all others."""
        return str(self._read("token")[0])

    def version(self) -> int:
        (version,) = self._read("version")
        assert isinstance(version, int)
        return version

    def shown(self) -> Shown:
        return Shown._make(self._read("shown_version, shown_at_ms, took_ms"))

    def stamps(self) -> tuple[str, str]:
        """The stamp of the output, and its stamp if we died before we could record the change."""
        stamp, next_stamp = self._read("stamp, next_stamp")
        return str(stamp), str(next_stamp)

    def note_next(self, found: str, stamp: str) -> None:
        """Record that the stamp of the output, now `found`, is about to become `stamp`."""
        self._journal.execute("UPDATE export SET stamp = ?, next_stamp = ?", (found, stamp))

    def note_shown(self, shown: Shown) -> None:
        """Record that the output has all items of that version."""
        self._journal.execute(
            "UPDATE export SET shown_version = ?, shown_at_ms = ?, took_ms = ?, stamp = next_stamp",
            shown,
        )

    def _read(self, columns: str) -> tuple[object, ...]:
        row = self._journal.execute(f"SELECT {columns} FROM export").fetchone()
        return tuple(row)


def has_unshown_items(job_dir: Path) -> bool:
    """Whether a journal there has items that are not in its output."""
    return any(map(is_behind, journals_in(job_dir)))


def is_behind(journal: Path) -> bool:
    """Whether the output lacks items of this journal."""
    try:
        uri = f"{journal.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            query = "SELECT version > max(shown_version, 0) FROM export"
            return bool(connection.execute(query).fetchone() == (1,))
    except sqlite3.OperationalError:  # killed before the table was created: nothing was stored
        return False
    except sqlite3.DatabaseError:  # it is broken; opening it will report that
        return True
