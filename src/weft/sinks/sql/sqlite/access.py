"""Work with a table in an SQLite file."""

from collections.abc import Mapping

from sqlalchemy.ext.asyncio import AsyncConnection

from weft.sinks.sql.access import TableAccess
from weft.sinks.sql.columns import Column
from weft.sinks.sql.dialect import SqlDialect
from weft.sinks.sql.kinds import ColumnKind


class SqliteAccess(TableAccess):
    """A transaction that writes locks the whole file, so changes need no lock of their own."""

    def __init__(self, dialect: SqlDialect) -> None:
        super().__init__(dialect)
        self._kinds = {type_: kind for kind, type_ in dialect.types.items()}

    async def prepare(self, connection: AsyncConnection) -> None:
        await connection.exec_driver_sql("PRAGMA journal_mode = WAL")
        await connection.exec_driver_sql("PRAGMA synchronous = FULL")

    async def columns(self, connection: AsyncConnection) -> Mapping[str, Column]:
        found = await connection.exec_driver_sql(f"PRAGMA table_info({self.dialect.table})")
        return {
            row.name: Column(self._kind(row.type.upper()), not row.notnull) for row in found.all()
        }

    def _kind(self, type_: str) -> ColumnKind:
        return self._kinds.get(type_) or _by_affinity(type_)


def _by_affinity(type_: str) -> ColumnKind:
    """By SQLite's own rules, for a column that we did not create."""
    for words, kind in (
        (("INT",), ColumnKind.INT),
        (("CHAR", "CLOB", "TEXT"), ColumnKind.TEXT),
        (("REAL", "FLOA", "DOUB"), ColumnKind.FLOAT),
    ):
        if any(word in type_ for word in words):
            return kind
    return ColumnKind.BYTES if "BLOB" in type_ else ColumnKind.OTHER
