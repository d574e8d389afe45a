"""An SQLite file that several processes use at the same time, and that survives their deaths."""

import errno
import shutil
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from weft.clock import monotonic_s
from weft.errors import StoreError, StoreFormatError, StoreLockedError, store_error

#: How long to wait while another process writes.
BUSY_TIMEOUT_S = 30.0
#: Between two attempts, where SQLite itself does not wait.
RETRY_S = 0.01
#: "Wbrd" in ASCII: distinguishes the file from those of other programs.
APPLICATION_ID = 0x57627264
#: SQLite reports some writes to a full disk as other errors; below this much free space it is full.
FULL_BELOW_BYTES = 64 * 1024


def open_file(path: Path, schema: Sequence[str], format_number: int) -> sqlite3.Connection:
    """Open the file; make it with this schema if it is new. Statements commit by themselves, but
    for those inside `transaction`; what is committed is on disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)  # there may be passwords in it; its log gets the same mode
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    try:
        _check_format(connection, path, format_number)  # before anything changes the file
        _keep_log(connection)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        _prepare(connection, path, schema, format_number)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of the statements inside or none of them."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):  # some errors roll back by themselves
            connection.execute("ROLLBACK")
        raise


@contextmanager
def errors_of(
    path: Path, what: str = "boards", cure: str = "add the boards again"
) -> Iterator[None]:
    """Turn errors inside into a StoreError about `path`. `what` should be in it; `cure`: what to do
    if it is damaged and was moved away."""
    try:
        yield
    except sqlite3.Error as problem:
        raise _translated(path, problem, what, cure) from problem
    except OSError as problem:
        raise store_error(str(path), problem) from problem


def _translated(path: Path, problem: sqlite3.Error, what: str, cure: str) -> StoreError:
    code = getattr(problem, "sqlite_errorcode", 0) & 0xFF  # any kind of it
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreLockedError(f"another process keeps {path} locked; end it, then try again")
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return StoreError(
            f"{path} is not a file of {what}, or damaged ({problem}); move it away and {cure}"
        )
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return store_error(str(path), PermissionError(errno.EACCES, str(problem)))
    if code == sqlite3.SQLITE_IOERR and _is_disk_full(path):
        return store_error(str(path), OSError(errno.ENOSPC, str(problem)))
    return store_error(str(path), problem)


def _is_disk_full(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free < FULL_BELOW_BYTES
    except OSError:
        return False


def _keep_log(connection: sqlite3.Connection) -> None:
    """Switch to a write-ahead log: others read while we write. If several processes do this to a
    new file, all but one are told at once that it is busy."""
    give_up_at_s = monotonic_s() + BUSY_TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as problem:
            is_busy = problem.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not is_busy or monotonic_s() > give_up_at_s:
                raise
        time.sleep(RETRY_S)


def _prepare(
    connection: sqlite3.Connection, path: Path, schema: Sequence[str], format_number: int
) -> None:
    with transaction(connection):
        if _check_format(connection, path, format_number):  # another process may be first
            return
        for statement in schema:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {format_number}")


def _check_format(connection: sqlite3.Connection, path: Path, format_number: int) -> bool:
    """Whether it is made already; raise if it is not ours to write."""
    if _number(connection, "SELECT count(*) FROM sqlite_master") == 0:
        return False
    if _number(connection, "PRAGMA application_id") != APPLICATION_ID:
        raise StoreError(f"{path} belongs to another program; move it away")
    found = _number(connection, "PRAGMA user_version")
    if found != format_number:
        raise StoreFormatError(
            f"{path} has format {found}, this Weft knows {format_number}; upgrade Weft"
        )
    return True


def _number(connection: sqlite3.Connection, query: str) -> int:
    (value,) = connection.execute(query).fetchone()
    return int(value)
