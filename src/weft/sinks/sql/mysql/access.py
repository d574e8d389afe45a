"""Work with a table of MySQL or MariaDB, whose statements are limited in size."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext

from sqlalchemy.ext.asyncio import AsyncConnection

from weft.sinks.sql.access import TableAccess
from weft.sinks.sql.columns import Column
from weft.sinks.sql.dialect import SqlDialect, Upsert
from weft.sinks.sql.kinds import ColumnKind
from weft.sinks.sql.values import literal_bytes

#: The longest statement, even if the server would accept more.
MAX_STATEMENT_BYTES = 4_000_000
#: Room for the rest of a statement besides its rows, but never more than a quarter of a packet.
STATEMENT_MARGIN_BYTES = 200_000
LOCK_S = 300

_KINDS: Mapping[str, ColumnKind] = {
    **dict.fromkeys(("tinyint", "smallint", "mediumint", "int", "bigint"), ColumnKind.INT),
    **dict.fromkeys(("float", "double"), ColumnKind.FLOAT),
    **dict.fromkeys(
        ("char", "varchar", "tinytext", "text", "mediumtext", "longtext"), ColumnKind.TEXT
    ),
    **dict.fromkeys(("binary", "varbinary", "tinyblob", "blob", "mediumblob"), ColumnKind.BYTES),
    "longblob": ColumnKind.BYTES,
    "decimal": ColumnKind.DECIMAL,
    "datetime": ColumnKind.DATETIME,
    "timestamp": ColumnKind.DATETIME,
    "date": ColumnKind.DATE,
    "json": ColumnKind.JSON,
}
_COLUMNS = """
    SELECT column_name AS name, data_type AS data, column_type AS full, is_nullable AS nullable
    FROM information_schema.columns
    WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position
"""
# JSON in MariaDB is text with a check.
_JSON_CHECKS = """
    SELECT check_clause FROM information_schema.check_constraints
    WHERE constraint_schema = %s AND table_name = %s AND check_clause LIKE 'json\\_valid(%%'
"""


class MySqlAccess(TableAccess):
    def __init__(self, dialect: SqlDialect) -> None:
        super().__init__(dialect)
        self._title = dialect.address.title
        self._names = (dialect.address.database, dialect.address.table)
        self._lock_name = f"weft:{'.'.join(self._names)}"[:64]
        self._max_packet_bytes = 1_000_000

    async def prepare(self, connection: AsyncConnection) -> None:
        answer = await connection.exec_driver_sql("SELECT @@max_allowed_packet")
        self._max_packet_bytes = int(answer.scalar_one())

    async def columns(self, connection: AsyncConnection) -> Mapping[str, Column]:
        found = (await connection.exec_driver_sql(_COLUMNS, self._names)).all()
        with_json = await self._json_columns(connection)
        return {
            row.name: Column(
                ColumnKind.JSON if row.name in with_json else _kind(row.data, row.full),
                row.nullable == "YES",
            )
            for row in found
        }

    async def _json_columns(self, connection: AsyncConnection) -> frozenset[str]:
        if not getattr(connection.dialect, "is_mariadb", False):
            return frozenset()
        checks = (await connection.exec_driver_sql(_JSON_CHECKS, self._names)).scalars()
        return frozenset(check[len("json_valid(`") : -2].replace("``", "`") for check in checks)

    @asynccontextmanager
    async def changing(self, connection: AsyncConnection) -> AsyncIterator[None]:
        await connection.exec_driver_sql("SELECT GET_LOCK(%s, %s)", (self._lock_name, LOCK_S))
        try:
            yield
        finally:
            if not connection.invalidated:  # with a lost connection, its lock is gone, too
                await connection.exec_driver_sql("SELECT RELEASE_LOCK(%s)", (self._lock_name,))

    def savepoint(self, connection: AsyncConnection) -> AbstractAsyncContextManager[object]:
        return nullcontext()  # a statement that changes a table is a transaction of its own

    async def insert(
        self, connection: AsyncConnection, upsert: Upsert, rows: Sequence[tuple[object, ...]]
    ) -> None:
        limit = min(self._max_packet_bytes // 2, MAX_STATEMENT_BYTES)
        for packet in packets(rows, limit):
            values = tuple(value for row in packet for value in row)
            await connection.exec_driver_sql(upsert.of_rows(len(packet)), values)

    def too_large(self, row: tuple[object, ...]) -> str:
        packet = self._max_packet_bytes
        limit = packet - min(STATEMENT_MARGIN_BYTES, packet // 4)
        if _roughly(row) <= limit:
            return ""
        size = sum(map(literal_bytes, row))
        if size <= limit:
            return ""
        return (
            f"the item has {size} bytes, which is more than {self._title} accepts: raise its "
            f"max_allowed_packet, which is {self._max_packet_bytes}"
        )


def packets(
    rows: Sequence[tuple[object, ...]], max_bytes: int
) -> Iterator[Sequence[tuple[object, ...]]]:
    """Split the rows into as few packets as possible, none larger than `max_bytes` unless it is a
    single row."""
    start = size = 0
    for number, row in enumerate(rows):
        row_bytes = _roughly(row)
        if number > start and size + row_bytes > max_bytes:
            yield rows[start:number]
            start, size = number, 0
        size += row_bytes
    if start < len(rows):
        yield rows[start:]


def _roughly(row: tuple[object, ...]) -> int:
    """The length of a row in a statement; never too low."""
    size = 0
    for value in row:
        if isinstance(value, str):
            size += len(value) * (2 if value.isascii() else 4)  # escaped, or in UTF-8
        elif isinstance(value, bytes):
            size += len(value) * 2
    return size + 100 * len(row)


def _kind(data_type: str, column_type: str) -> ColumnKind:
    if column_type.startswith("tinyint(1)"):
        return ColumnKind.BOOL
    return _KINDS.get(data_type.lower(), ColumnKind.OTHER)
