"""A table of an SQLite file, by aiosqlite."""

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import URL
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from weft.errors import StoreError
from weft.sinks.files import prepare_place
from weft.sinks.sql.address import Address
from weft.sinks.sql.database import Database, Trouble
from weft.sinks.sql.kinds import Kind
from weft.sinks.sql.layout import Changes, Column, Names, Room
from weft.sinks.sql.values import Forms
from weft.sinks.translate import errors_of

#: How long to wait for another process that writes.
BUSY_TIMEOUT_S = 30

_TROUBLES: Mapping[int, Trouble] = {
    sqlite3.SQLITE_BUSY: Trouble.BUSY,
    sqlite3.SQLITE_LOCKED: Trouble.BUSY,
    sqlite3.SQLITE_SCHEMA: Trouble.STALE,
    sqlite3.SQLITE_TOOBIG: Trouble.REFUSED,
    sqlite3.SQLITE_CONSTRAINT: Trouble.REFUSED,
    sqlite3.SQLITE_MISMATCH: Trouble.REFUSED,
}


class SqliteTable(Database):
    title = "SQLite"
    driver = "aiosqlite"
    dialect = "sqlite+aiosqlite"
    forms = Forms(has_text_dates=True)
    names = Names(200, length=len, folded=str.lower)
    room = Room(1000, 10**9, {Kind.TEXT: 1})
    # The type decides how SQLite keeps a value: what has "TEXT" in it stays text, while a column of
    # the type JSON would make the number 7 of the text 007. There are no exact decimals.
    types: Mapping[Kind, str] = {
        Kind.BOOL: "BOOLEAN",
        Kind.INT: "BIGINT",
        Kind.FLOAT: "DOUBLE",
        Kind.DATETIME: "TIMESTAMP TEXT",
        Kind.DATE: "DATE TEXT",
        Kind.BYTES: "BLOB",
        Kind.JSON: "JSON TEXT",
        Kind.TEXT: "TEXT",
    }

    def __init__(self, address: Address) -> None:
        super().__init__(address)
        self._path = Path(address.database)
        self._kinds = {type_: kind for kind, type_ in self.types.items()}

    @property
    def url(self) -> URL:
        return URL.create(self.dialect, database=self.address.database)

    def connect_options(self) -> dict[str, Any]:
        # No transactions of the driver: they begin as readers, and fail if another has written
        # before they write.
        return {"timeout": BUSY_TIMEOUT_S, "isolation_level": None}

    def placeholder(self, number: int) -> str:
        return "?"

    def is_there(self) -> bool:
        return self._path.is_file()

    def identity(self) -> object:
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    async def prepare(self, connection: AsyncConnection) -> None:
        await connection.exec_driver_sql("PRAGMA journal_mode = WAL")
        await connection.exec_driver_sql("PRAGMA synchronous = FULL")

    def prepare_place(self) -> None:
        with errors_of(self._path):
            prepare_place(self._path)

    async def columns(self, connection: AsyncConnection) -> Mapping[str, Column]:
        found = await connection.exec_driver_sql(f"PRAGMA table_info({self.table})")
        return {
            row.name: Column(self._kind(row.type.upper()), not row.notnull) for row in found.all()
        }

    def _kind(self, type_: str) -> Kind:
        return self._kinds.get(type_) or _by_affinity(type_)

    def create_statements(self) -> Sequence[str]:
        name = self.address.table
        return [
            f"""
            CREATE TABLE {self.table} (
                _id INTEGER PRIMARY KEY AUTOINCREMENT,
                _key CHAR(32) NOT NULL UNIQUE,
                _job TEXT NOT NULL,
                _page TEXT NOT NULL,
                _fetched_at TIMESTAMP TEXT,
                _more JSON TEXT
            )
            """,
            f"CREATE INDEX {self.quoted(f'{name}_fetched_at')} ON {self.table} (_fetched_at)",
            f"CREATE INDEX {self.quoted(f'{name}_job')} ON {self.table} (_job, _fetched_at)",
        ]

    async def begin(self, connection: AsyncConnection) -> None:
        await connection.exec_driver_sql("BEGIN IMMEDIATE")

    def change_statements(self, changes: Changes, columns: Mapping[str, Column]) -> Sequence[str]:
        alter = f"ALTER TABLE {self.table}"
        statements = [
            f"{alter} ADD COLUMN {self.quoted(name)} {self.types[kind]}"
            for name, kind in changes.added.items()
        ]
        for name, kind in changes.widened.items():
            # The type of a column cannot be changed.
            old, new, type_ = self.quoted(name), self.quoted(f"{name} (wider)"), self.types[kind]
            statements += [
                f"{alter} ADD COLUMN {new} {type_}",
                f"UPDATE {self.table} SET {new} = CAST({old} AS {type_})",
                f"{alter} DROP COLUMN {old}",
                f"{alter} RENAME COLUMN {new} TO {old}",
            ]
        return statements

    def _trouble(self, problem: DBAPIError) -> Trouble:
        text = str(problem.orig)
        if "no such column" in text or "no such table" in text or "has no column" in text:
            return Trouble.STALE
        return _TROUBLES.get(self.code(problem), Trouble.OTHER)

    def code(self, problem: DBAPIError) -> int:
        return int(getattr(problem.orig, "sqlite_errorcode", 0)) & 0xFF  # not the extended part

    def error(self, problem: BaseException) -> StoreError | None:
        try:
            with errors_of(self._path):
                raise getattr(problem, "orig", None) or problem
        except StoreError as error:
            return error
        except BaseException:
            return None

    def grant(self, right: str) -> str:
        return f"chmod u+w {self._path}"


def _by_affinity(type_: str) -> Kind:
    """By the rules of SQLite; of a column that somebody else made."""
    for words, kind in (
        (("INT",), Kind.INT),
        (("CHAR", "CLOB", "TEXT"), Kind.TEXT),
        (("REAL", "FLOA", "DOUB"), Kind.FLOAT),
    ):
        if any(word in type_ for word in words):
            return kind
    return Kind.BYTES if "BLOB" in type_ else Kind.OTHER
