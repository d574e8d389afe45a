"""Addresses of tables: `mysql://user:password@host:port/database/table?option=value`."""

from collections.abc import Mapping
from typing import NoReturn
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

import msgspec

from weft.errors import ConfigError
from weft.urls import without_password

_EXAMPLES = {
    "mysql": "mysql://user:password@host:3306/database/table",
    "mariadb": "mariadb://user:password@host:3306/database/table",
    "postgresql": "postgresql://user:password@host:5432/database/table, or …/database/schema.table",
    "sqlite": "sqlite:///absolute/path/file.db/table",
}
_PORTS = {"mysql": 3306, "mariadb": 3306, "postgresql": 5432, "sqlite": 0}
_OPTIONS: Mapping[str, frozenset[str]] = {
    "mysql": frozenset({"ssl", "ssl_ca", "unix_socket"}),
    "mariadb": frozenset({"ssl", "ssl_ca", "unix_socket"}),
    "postgresql": frozenset({"ssl", "ssl_ca", "unix_socket"}),
    "sqlite": frozenset(),
}
#: Encrypted, and with the certificate of the server checked, against the one in `ssl_ca` if any.
SSL = ("disable", "require", "verify-full")
#: PostgreSQL cuts longer names off in silence; the others take 64 characters and more.
MAX_NAME_BYTES = 63


class Address(msgspec.Struct, frozen=True):
    scheme: str
    #: As it may be shown.
    shown: str
    #: The file, for SQLite.
    database: str
    table: str
    #: Empty: where the database looks first. PostgreSQL only.
    schema: str = ""
    user: str = ""
    password: str = ""
    host: str = ""
    port: int = 0
    options: Mapping[str, str] = {}

    @property
    def server(self) -> str:
        return self.options.get("unix_socket") or f"{self.host}:{self.port}"


def parse_address(output: str) -> Address:
    """Raises ConfigError that shows how it is written."""
    try:
        parts = urlsplit(output)
        port = parts.port
    except ValueError as problem:
        _refuse(output, output.partition("://")[0].lower(), str(problem))
    scheme = parts.scheme
    database, table = _database_and_table(output, parts)
    schema = ""
    if scheme == "postgresql" and "." in table:
        schema, _, table = table.partition(".")
        _check_name(output, scheme, schema, "schema")
    _check_name(output, scheme, table, "table")
    return Address(
        scheme=scheme,
        shown=without_password(output.partition("?")[0]),
        database=database,
        table=table,
        schema=schema,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        host=parts.hostname or "localhost",
        port=port or _PORTS[scheme],
        options=_options(output, parts),
    )


def _database_and_table(output: str, parts: SplitResult) -> tuple[str, str]:
    database, _, table = parts.path.rpartition("/")
    if parts.scheme != "sqlite":
        database = database.removeprefix("/")
        if "/" in database:
            _refuse(output, parts.scheme, "there is more than a database and a table in it")
    database, table = unquote(database), unquote(table)
    if not database or not table:
        missing = "table" if database or parts.scheme == "sqlite" else "database and table"
        _refuse(output, parts.scheme, f"it names no {missing}")
    return database, table


def _options(output: str, parts: SplitResult) -> Mapping[str, str]:
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    known = _OPTIONS[parts.scheme]
    for name in options:
        if name not in known:
            names = ", ".join(sorted(known)) or "none"
            _refuse(output, parts.scheme, f"{name!r} is no option of it; there are: {names}")
    if options.get("ssl", "disable") not in SSL:
        _refuse(output, parts.scheme, f"ssl can be {', '.join(SSL)}")
    return options


def _check_name(output: str, scheme: str, name: str, what: str) -> None:
    is_odd = not name or not name.isprintable() or name != name.strip()
    if is_odd or any(sign in name for sign in "./\\"):
        _refuse(output, scheme, f"{name!r} cannot be the name of a {what}")
    if len(name.encode()) > MAX_NAME_BYTES:
        _refuse(output, scheme, f"the name of the {what} is longer than {MAX_NAME_BYTES} bytes")
    if scheme == "sqlite" and name.lower().startswith("sqlite_"):
        _refuse(output, scheme, "SQLite keeps names that start with sqlite_ for itself")


def _refuse(output: str, scheme: str, reason: str) -> NoReturn:
    raise ConfigError(
        f"items cannot go to {without_password(output)!r}: {reason}; write {_EXAMPLES[scheme]}, "
        "with %XX for special characters in names and password"
    )
