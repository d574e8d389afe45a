"""A table in an SQLite file, with aiosqlite."""

from weft.sinks.sql.address import SqlAddress
from weft.sinks.sql.backend import SqlBackend
from weft.sinks.sql.sqlite.access import SqliteAccess
from weft.sinks.sql.sqlite.dialect import SqliteDialect
from weft.sinks.sql.sqlite.location import SqliteLocation
from weft.sinks.sql.sqlite.problems import SqliteProblems


def sqlite_backend(address: SqlAddress) -> SqlBackend:
    dialect = SqliteDialect(address)
    return SqlBackend(
        address, SqliteLocation(address), dialect, SqliteAccess(dialect), SqliteProblems(dialect)
    )
