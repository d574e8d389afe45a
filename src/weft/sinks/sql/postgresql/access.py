"""Work with a table of PostgreSQL."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from sqlalchemy.ext.asyncio import AsyncConnection

from weft.errors import StoreError
from weft.sinks.sql.access import TableAccess
from weft.sinks.sql.columns import Column
from weft.sinks.sql.kinds import ColumnKind

_KINDS: Mapping[str, ColumnKind] = {
    "boolean": ColumnKind.BOOL,
    **dict.fromkeys(("smallint", "integer", "bigint"), ColumnKind.INT),
    **dict.fromkeys(("real", "double precision"), ColumnKind.FLOAT),
    **dict.fromkeys(("text", "character varying", "character"), ColumnKind.TEXT),
    **dict.fromkeys(("json", "jsonb"), ColumnKind.JSON),
    "numeric": ColumnKind.DECIMAL,
    "timestamp with time zone": ColumnKind.DATETIME,
    "date": ColumnKind.DATE,
    "bytea": ColumnKind.BYTES,
}
_COLUMNS = """
    SELECT attname, format_type(atttypid, NULL) AS type, attnotnull FROM pg_attribute
    WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""
_ENCODING = "SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = $1"
_LOCK = "SELECT pg_advisory_xact_lock(hashtext('weft:' || to_regclass($1)::oid))"


class PostgreSqlAccess(TableAccess):
    async def prepare(self, connection: AsyncConnection) -> None:
        database = self.dialect.address.database
        encoding = (await connection.exec_driver_sql(_ENCODING, (database,))).scalar_one()
        if encoding != "UTF8":
            raise StoreError(
                f"the database {database} is encoded in {encoding}, which lacks most characters; "
                "create one with ENCODING 'UTF8'"
            )

    async def columns(self, connection: AsyncConnection) -> Mapping[str, Column]:
        found = await connection.exec_driver_sql(_COLUMNS, (self.dialect.table,))
        return {
            row.attname: Column(_KINDS.get(row.type, ColumnKind.OTHER), not row.attnotnull)
            for row in found.all()
        }

    @asynccontextmanager
    async def changing(self, connection: AsyncConnection) -> AsyncIterator[None]:
        await connection.exec_driver_sql(_LOCK, (self.dialect.table,))
        yield  # the end of the transaction releases the lock
