"""Turns errors of the file system and of SQLite into our own."""

import errno
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from weft.errors import StoreError, StoreLockedError, store_error

#: SQLite reports some writes to a full disk as I/O errors; below this much free space it is full.
FULL_BELOW_BYTES = 64 * 1024


@contextmanager
def errors_of(path: Path) -> Iterator[None]:
    """Turn errors inside into a `StoreError` about `path`."""
    try:
        yield
    except sqlite3.Error as problem:
        raise _sqlite_error(path, problem) from problem
    except OSError as problem:
        raise store_error(str(path), problem) from problem


def _sqlite_error(path: Path, problem: sqlite3.Error) -> StoreError:
    code = getattr(problem, "sqlite_errorcode", 0) & 0xFF  # without the extended bits
    if code == sqlite3.SQLITE_NOTADB:
        return StoreError(
            f"{path} is not an SQLite database; move it away or choose another output with -o"
        )
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
        return StoreError(
            f"{path} cannot be written ({problem}); check the permissions of the file and its "
            "directory, or choose another output with -o"
        )
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreLockedError(f"another process keeps {path} locked; end it, then try again")
    if code == sqlite3.SQLITE_IOERR and _is_disk_full(path):
        return store_error(str(path), OSError(errno.ENOSPC, str(problem)))
    return store_error(str(path), problem)


def _is_disk_full(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free < FULL_BELOW_BYTES
    except OSError:
        return False
