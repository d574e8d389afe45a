"""Reads the items of an SQLite file back, including one written by an older Weft.

It reads some rows at a time, each time in a new transaction: otherwise a slow reader (a pager)
would prevent a running crawl from truncating its log.
"""

import sqlite3
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import msgspec

from weft.errors import StoreError, StoreFormatError, StoreMissingError
from weft.sinks.disk.errors import errors_of
from weft.sinks.disk.sqlitefile import APPLICATION_ID, BUSY_TIMEOUT_S
from weft.sinks.readback import BATCH, Query, StoredItem

_BOOKKEEPING = "job, page, fetched_at_ms"
_WITHOUT_BOOKKEEPING = "'' AS job, '' AS page, 0 AS fetched_at_ms"
# If it is unknown when a page was fetched, the time at which its item was stored counts. Rows
# without a job are from an older Weft, whose files had one job each.
_SOME_ROWS = """
    SELECT id, key, item, job, page, fetched_at_ms FROM
        (SELECT id, key, item, stored_at_ms, {bookkeeping} FROM items)
    WHERE id > :after AND (:job = '' OR job IN (:job, ''))
        AND (CASE fetched_at_ms WHEN 0 THEN stored_at_ms ELSE fetched_at_ms END) >= :since_ms
    ORDER BY id LIMIT :limit
"""


def read_sqlite(path: Path, query: Query, newest_format: int) -> Generator[StoredItem]:
    """Blocking, for one thread."""
    if not path.is_file():
        raise StoreMissingError(f"there is no file {path}; crawl something first, or name another")
    with errors_of(path), closing(_open(path)) as connection:
        statement = _statement(connection, path, newest_format)
        after = 0
        while rows := connection.execute(statement, _given(query, after)).fetchall():
            for row in rows:
                yield _item(row)
            after = rows[-1][0]


def _open(path: Path) -> sqlite3.Connection:
    """Open for reading. Not with `mode=ro`, because SQLite would leave its log behind; but in a
    read-only directory, where nobody can write, the file is opened as immutable."""
    uri = f"file:{quote(str(path.absolute()))}"
    connection = _connect(f"{uri}?mode=rw")
    try:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError as problem:
        connection.close()
        is_out_of_reach = problem.sqlite_errorcode & 0xFF in _OUT_OF_REACH
        if not is_out_of_reach or path.with_name(f"{path.name}-wal").exists():
            raise
        return _connect(f"{uri}?mode=ro&immutable=1")
    except BaseException:
        connection.close()
        raise
    return connection


_OUT_OF_REACH = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)


def _connect(uri: str) -> sqlite3.Connection:
    return sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None)


def _statement(connection: sqlite3.Connection, path: Path, newest_format: int) -> str:
    """Return the query for some rows; raise if these are not our items."""
    columns = {name for _, name, *_ in connection.execute("PRAGMA table_info(items)")}
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if not tables:
        raise StoreMissingError(f"there is nothing in {path} yet; crawl something first")
    if application_id != APPLICATION_ID or not columns:
        raise StoreError(
            f"{path} does not contain the items of a crawl; name a file that a crawl has "
            "written, or a table as sqlite:///DIR/FILE.db/TABLE"
        )
    if found > newest_format:
        raise StoreFormatError(
            f"{path} has format {found}, this Weft knows formats up to {newest_format}; "
            "upgrade Weft"
        )
    return _SOME_ROWS.format(
        bookkeeping=_BOOKKEEPING if "fetched_at_ms" in columns else _WITHOUT_BOOKKEEPING
    )


def _given(query: Query, after: int) -> dict[str, object]:
    return {"after": after, "limit": BATCH, "job": query.job, "since_ms": query.since_ms}


def _item(row: tuple[int, bytes, str, str, str, int]) -> StoredItem:
    _, key, item, job, page, fetched_at_ms = row
    fields = msgspec.json.decode(item, type=dict[str, object])
    return StoredItem(key.hex(), job, page, fetched_at_ms, fields)
