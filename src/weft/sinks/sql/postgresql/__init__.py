"""PostgreSQL, with asyncpg."""

from weft.sinks.sql.address import SqlAddress
from weft.sinks.sql.backend import SqlBackend
from weft.sinks.sql.postgresql.access import PostgreSqlAccess
from weft.sinks.sql.postgresql.dialect import PostgreSqlDialect
from weft.sinks.sql.postgresql.location import PostgreSqlLocation
from weft.sinks.sql.postgresql.problems import PostgreSqlProblems


def postgresql_backend(address: SqlAddress) -> SqlBackend:
    dialect = PostgreSqlDialect(address)
    return SqlBackend(
        address,
        PostgreSqlLocation(address),
        dialect,
        PostgreSqlAccess(dialect),
        PostgreSqlProblems(dialect),
    )
