"""MySQL and MariaDB, by asyncmy."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from weft.sinks.sql.address import Address
from weft.sinks.sql.database import CONNECT_S, Database, Trouble, Upsert
from weft.sinks.sql.encryption import ssl_context
from weft.sinks.sql.kinds import Kind
from weft.sinks.sql.layout import KEY, Changes, Column, Names, Room
from weft.sinks.sql.values import Forms, literal_bytes

#: Statements are no longer than this, even if the server would take more.
MAX_STATEMENT_BYTES = 4_000_000
#: What a statement has beside its rows, at most; but never more than a quarter of a packet.
STATEMENT_MARGIN_BYTES = 200_000
LOCK_S = 300

# Without a strict mode, values that do not fit are cut off in silence. With NO_BACKSLASH_ESCAPES or
# ANSI_QUOTES, which these words leave out, the driver's literals would mean something else.
# Without room for warnings, the driver does not print them: MySQL has one about each upsert.
INIT = (
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', SESSION max_error_count = 0"
)

_DOWN = {1040, 1053, 1077, 1079, 1203, 1290, 1836, 1927, 2002, 2003, 2006, 2013, 2055, 4031}
_BUSY = {1020, 1205, 1213}
_STALE = {1054, 1060, 1146, 1412, 1615}
_DENIED = {1044, 1045, 1049, 1142, 1143, 1227, 1370, 1698}
# Rows too large, partitions, triggers that say no, checks of MySQL and of MariaDB; and, of changes,
# too many columns and names that cannot be.
_REFUSED = {1118, 1153, 1301, 1364, 1366, 1526, 1644, 3140, 3141, 3157, 3819, 4025}
_REFUSED |= {1005, 1074, 1117, 1166, 1300}
_CANNOT_BE_NULL = 1048

_KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(("tinyint", "smallint", "mediumint", "int", "bigint"), Kind.INT),
    **dict.fromkeys(("float", "double"), Kind.FLOAT),
    **dict.fromkeys(("char", "varchar", "tinytext", "text", "mediumtext", "longtext"), Kind.TEXT),
    **dict.fromkeys(("binary", "varbinary", "tinyblob", "blob", "mediumblob"), Kind.BYTES),
    "longblob": Kind.BYTES,
    "decimal": Kind.DECIMAL,
    "datetime": Kind.DATETIME,
    "timestamp": Kind.DATETIME,
    "date": Kind.DATE,
    "json": Kind.JSON,
}
_COLUMNS = """
    SELECT column_name AS name, data_type AS data, column_type AS full, is_nullable AS nullable
    FROM information_schema.columns
    WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position
"""
# The JSON of MariaDB is text with a check.
_JSON_CHECKS = """
    SELECT check_clause FROM information_schema.check_constraints
    WHERE constraint_schema = %s AND table_name = %s AND check_clause LIKE 'json\\_valid(%%'
"""


class MySql(Database):
    driver = "asyncmy"
    dialect = "mysql+asyncmy"
    # MariaDB takes JSON for invalid from 32 levels on, MySQL from 101 on.
    forms = Forms(max_json_depth=31, decimal_digits=(28, 10))
    names = Names(64, length=len, folded=str.casefold, last="\uffff")
    # A row has to fit into half a page of 16 KB, with the first 40 bytes of long values in it. More
    # columns can be added than can be filled.
    room = Room(
        1000,
        7900,
        {
            Kind.BOOL: 2,
            Kind.INT: 9,
            Kind.FLOAT: 9,
            Kind.DECIMAL: 18,
            Kind.DATETIME: 9,
            Kind.DATE: 4,
            Kind.TEXT: 41,
        },
    )
    types: Mapping[Kind, str] = {
        Kind.BOOL: "BOOLEAN",
        Kind.INT: "BIGINT",
        Kind.FLOAT: "DOUBLE",
        Kind.DECIMAL: "DECIMAL(38,10)",
        Kind.DATETIME: "DATETIME(6)",
        Kind.DATE: "DATE",
        Kind.BYTES: "LONGBLOB",
        Kind.JSON: "JSON",
        Kind.TEXT: "LONGTEXT",
    }

    wrong_password = frozenset({1045, 1698})
    unknown_database = frozenset({1049})

    def __init__(self, address: Address) -> None:
        super().__init__(address)
        self.title = "MariaDB" if address.scheme == "mariadb" else "MySQL"
        self._max_packet_bytes = 1_000_000

    def connect_options(self) -> dict[str, Any]:
        options: dict[str, Any] = {
            "charset": "utf8mb4",
            "connect_timeout": CONNECT_S,
            "init_command": INIT,
        }
        if "unix_socket" in self.address.options:
            options["unix_socket"] = self.address.options["unix_socket"]
        context = ssl_context(self.address)
        return {**options, "ssl": context} if context else options

    def quoted(self, name: str) -> str:
        # The driver replaces what % begins.
        return "`" + name.replace("`", "``").replace("%", "%%") + "`"

    def placeholder(self, number: int) -> str:
        return "%s"

    async def prepare(self, connection: AsyncConnection) -> None:
        answer = await connection.exec_driver_sql("SELECT @@max_allowed_packet")
        self._max_packet_bytes = int(answer.scalar_one())

    async def columns(self, connection: AsyncConnection) -> Mapping[str, Column]:
        place = (self.address.database, self.address.table)
        found = (await connection.exec_driver_sql(_COLUMNS, place)).all()
        with_json = await self._json_columns(connection, place)
        return {
            row.name: Column(
                Kind.JSON if row.name in with_json else _kind(row.data, row.full),
                row.nullable == "YES",
            )
            for row in found
        }

    async def _json_columns(
        self, connection: AsyncConnection, place: tuple[str, str]
    ) -> frozenset[str]:
        if not getattr(connection.dialect, "is_mariadb", False):
            return frozenset()
        checks = (await connection.exec_driver_sql(_JSON_CHECKS, place)).scalars()
        return frozenset(check[len("json_valid(`") : -2].replace("``", "`") for check in checks)

    def create_statements(self) -> Sequence[str]:
        # `_more` is not of the type JSON: it holds what is nested too deeply for that.
        return [
            f"""
            CREATE TABLE {self.table} (
                _id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
                _key CHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL UNIQUE,
                _job VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
                _page LONGTEXT NOT NULL,
                _fetched_at DATETIME(3) NULL,
                _more LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
                KEY (_fetched_at),
                KEY (_job, _fetched_at)
            ) ENGINE = InnoDB ROW_FORMAT = DYNAMIC
              DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci
            """
        ]

    async def lock_changes(self, connection: AsyncConnection) -> None:
        await connection.exec_driver_sql("SELECT GET_LOCK(%s, %s)", (self._lock_name, LOCK_S))

    async def unlock_changes(self, connection: AsyncConnection) -> None:
        await connection.exec_driver_sql("SELECT RELEASE_LOCK(%s)", (self._lock_name,))

    @property
    def _lock_name(self) -> str:
        return f"weft:{self.address.database}.{self.address.table}"[:64]

    async def check_alter(self, connection: AsyncConnection) -> None:
        # It changes nothing, but one must be allowed to.
        await connection.exec_driver_sql(f"ALTER TABLE {self.table}")

    def savepoint(self, connection: AsyncConnection) -> AbstractAsyncContextManager[object]:
        return nullcontext()  # a statement that changes a table is a transaction of its own

    def change_statements(self, changes: Changes, columns: Mapping[str, Column]) -> Sequence[str]:
        parts = [
            f"ADD COLUMN {self.quoted(name)} {self.types[kind]} NULL"
            for name, kind in changes.added.items()
        ]
        for name, kind in changes.widened.items():
            null = "NULL" if columns[name].is_nullable else "NOT NULL"
            parts.append(f"MODIFY COLUMN {self.quoted(name)} {self.types[kind]} {null}")
        return [f"ALTER TABLE {self.table} {', '.join(parts)}"]

    def inserted(self, quoted: str) -> str:
        return f"VALUES({quoted})"

    def on_conflict(self, assignments: str) -> str:
        # Any unique column counts here. If it is one of the user's, the row is another item, which
        # must not be overwritten: NULL makes the statement fail.
        key = self.quoted(KEY)
        check = f"{key} = IF({key} = VALUES({key}), {key}, NULL)"
        return f" ON DUPLICATE KEY UPDATE {check}, {assignments}"

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
            f"the item is larger ({size} bytes) than {self.title} takes: raise its "
            f"max_allowed_packet, which is {self._max_packet_bytes}"
        )

    def _trouble(self, problem: DBAPIError) -> Trouble:
        code = self.code(problem)
        for trouble, codes in (
            (Trouble.DOWN, _DOWN),
            (Trouble.BUSY, _BUSY),
            (Trouble.STALE, _STALE),
            (Trouble.DENIED, _DENIED),
            (Trouble.REFUSED, _REFUSED),
        ):
            if code in codes:
                return trouble
        is_refused = isinstance(problem, DataError | IntegrityError)
        return Trouble.REFUSED if is_refused else Trouble.OTHER

    def text_of(self, problem: BaseException) -> str:
        if isinstance(problem, DBAPIError) and self.code(problem) == _CANNOT_BE_NULL:
            text = super().text_of(problem)
            if f"'{KEY}'" in text:
                return "another item has the same value in a column that must be unique"
        return super().text_of(problem)

    def code(self, problem: DBAPIError) -> object:
        arguments = getattr(problem.orig, "args", ())
        return arguments[0] if arguments else None

    def grant(self, right: str) -> str:
        user, place = self.address.user or "the user", self.quoted(self.address.database)
        return f"GRANT {right} ON {place}.* TO '{user}'@'%'"


def packets(
    rows: Sequence[tuple[object, ...]], max_bytes: int
) -> Iterator[Sequence[tuple[object, ...]]]:
    """The rows in as few parts as possible, none of which is larger; but a single row may be."""
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
    """How long a row is in a statement; never too little."""
    size = 0
    for value in row:
        if isinstance(value, str):
            size += len(value) * (2 if value.isascii() else 4)  # escaped, or in UTF-8
        elif isinstance(value, bytes):
            size += len(value) * 2
    return size + 100 * len(row)


def _kind(data_type: str, column_type: str) -> Kind:
    if column_type.startswith("tinyint(1)"):
        return Kind.BOOL
    return _KINDS.get(data_type.lower(), Kind.OTHER)
