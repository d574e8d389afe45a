"""SQLite files as the sinks use them: durable, shared with readers, with a format number."""

import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from weft.clock import monotonic_s
from weft.errors import StoreError, StoreFormatError
from weft.sinks.disk.names import prepare_path

#: How long to wait while another process writes.
BUSY_TIMEOUT_S = 30.0
#: How long to wait between two attempts, where SQLite itself does not wait.
RETRY_S = 0.01
#: "Weft" in ASCII; distinguishes our files from those of other programs.
APPLICATION_ID = 0x57656674

#: The statements that upgrade a file to a format from the one before.
Upgrades = Mapping[int, Sequence[str]]


def open_sqlite(
    path: Path, schema: Sequence[str], format_number: int, upgrades: Upgrades | None = None
) -> sqlite3.Connection:
    """Open the file at `path`; create it with `schema` if it is new.

    A commit is on disk when it returns. Statements outside `transaction` commit by themselves.
    """
    prepare_path(path)
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    try:
        _check_format(connection, path, format_number)  # before anything changes the file
        _keep_log(connection)
        connection.execute("PRAGMA synchronous = FULL")
        _prepare(connection, path, schema, format_number, upgrades or {})
    except BaseException:
        connection.close()
        raise
    return connection


def close_sqlite(connection: sqlite3.Connection) -> None:
    """Close, and move the contents of the log into the file.

    If that fails, for example on a full disk, the log stays and the next `open_sqlite` reads it.
    """
    with suppress(sqlite3.Error):
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    connection.close()


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Execute all of the statements inside or none of them."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # some errors roll back by themselves
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
        raise


def _keep_log(connection: sqlite3.Connection) -> None:
    """Switch to a write-ahead log, which lets others read while we write.

    If several processes do this to a new file, all but one get a busy error at once.
    """
    give_up_at_s = monotonic_s() + BUSY_TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as problem:
            is_busy = problem.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY  # any kind of busy
            if not is_busy or monotonic_s() > give_up_at_s:
                raise
        time.sleep(RETRY_S)


def _prepare(
    connection: sqlite3.Connection,
    path: Path,
    schema: Sequence[str],
    format_number: int,
    upgrades: Upgrades,
) -> None:
    with transaction(connection):
        found = _check_format(connection, path, format_number)  # another process may be first
        if found == format_number:
            return
        steps = (
            [schema] if found == 0 else [upgrades[n] for n in range(found + 1, format_number + 1)]
        )
        for statement in (statement for step in steps for statement in step):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {format_number}")


def _check_format(connection: sqlite3.Connection, path: Path, format_number: int) -> int:
    """Return the format of the file, 0 if it is new; raise if it is not ours to write."""
    if _number(connection, "SELECT count(*) FROM sqlite_master") == 0:
        return 0
    if _number(connection, "PRAGMA application_id") != APPLICATION_ID:
        raise StoreError(f"{path} belongs to another program; choose another output with -o")
    found = _number(connection, "PRAGMA user_version")
    if found > format_number:
        raise StoreFormatError(
            f"{path} has format {found}, this Weft knows formats up to {format_number}; "
            "upgrade Weft or choose another output with -o"
        )
    return found


def _number(connection: sqlite3.Connection, query: str) -> int:
    (value,) = connection.execute(query).fetchone()
    return int(value)
