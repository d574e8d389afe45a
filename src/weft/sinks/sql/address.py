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
_TITLES = {"mysql": "MySQL", "mariadb": "MariaDB", "postgresql": "PostgreSQL", "sqlite": "SQLite"}
_PORTS = {"mysql": 3306, "mariadb": 3306, "postgresql": 5432, "sqlite": 0}
_OPTIONS: Mapping[str, frozenset[str]] = {
    "mysql": frozenset({"ssl", "ssl_ca", "unix_socket"}),
    "mariadb": frozenset({"ssl", "ssl_ca", "unix_socket"}),
    "postgresql": frozenset({"ssl", "ssl_ca", "unix_socket"}),
    "sqlite": frozenset(),
}
#: `require` encrypts; `verify-full` also checks the certificate, against `ssl_ca` if given.
SSL = ("disable", "require", "verify-full")
#: PostgreSQL silently truncates longer names; the others allow 64 characters and more.
MAX_NAME_BYTES = 63


class SqlAddress(msgspec.Struct, frozen=True):
    scheme: str
    #: Safe to display: without a password.
    place: str
    #: For SQLite, the file.
    database: str
    table: str
    #: Empty: the server's default. PostgreSQL only.
    schema: str = ""
    user: str = ""
    password: str = ""
    host: str = ""
    port: int = 0
    options: Mapping[str, str] = {}

    @property
    def title(self) -> str:
        return _TITLES[self.scheme]

    @property
    def server(self) -> str:
        return self.options.get("unix_socket") or f"{self.host}:{self.port}"


def parse_address(output: str) -> SqlAddress:
    """Raises ConfigError, which shows the correct form."""
    try:
        url = urlsplit(output)
        port = url.port
    except ValueError as problem:
        _refuse(output, output.partition("://")[0].lower(), str(problem))
    scheme = url.scheme
    database, table = _database_and_table(output, url)
    schema = ""
    if scheme == "postgresql" and "." in table:
        schema, _, table = table.partition(".")
        _check_name(output, scheme, schema, "schema")
    _check_name(output, scheme, table, "table")
    return SqlAddress(
        scheme=scheme,
        place=without_password(output.partition("?")[0]),
        database=database,
        table=table,
        schema=schema,
        user=unquote(url.username or ""),
        password=unquote(url.password or ""),
        host=url.hostname or "localhost",
        port=port or _PORTS[scheme],
        options=_options(output, url),
    )


def _database_and_table(output: str, url: SplitResult) -> tuple[str, str]:
    database, _, table = url.path.rpartition("/")
    if url.scheme != "sqlite":
        database = database.removeprefix("/")
        if "/" in database:
            _refuse(output, url.scheme, "its path has more than a database and a table")
    database, table = unquote(database), unquote(table)
    if not database or not table:
        missing = "a table" if database or url.scheme == "sqlite" else "a database and a table"
        _refuse(output, url.scheme, f"it does not name {missing}")
    return database, table


def _options(output: str, url: SplitResult) -> Mapping[str, str]:
    options = dict(parse_qsl(url.query, keep_blank_values=True))
    known = _OPTIONS[url.scheme]
    for name in options:
        if name not in known:
            names = ", ".join(sorted(known)) or "none"
            _refuse(output, url.scheme, f"{name!r} is not one of its options: {names}")
    if options.get("ssl", "disable") not in SSL:
        _refuse(output, url.scheme, f"ssl must be one of {', '.join(SSL)}")
    return options


def _check_name(output: str, scheme: str, name: str, what: str) -> None:
    is_odd = not name or not name.isprintable() or name != name.strip()
    if is_odd or any(sign in name for sign in "./\\"):
        _refuse(output, scheme, f"{name!r} cannot be the name of a {what}")
    if len(name.encode()) > MAX_NAME_BYTES:
        _refuse(output, scheme, f"the name of the {what} is longer than {MAX_NAME_BYTES} bytes")
    if scheme == "sqlite" and name.lower().startswith("sqlite_"):
        _refuse(output, scheme, "SQLite reserves names that start with sqlite_")


def _refuse(output: str, scheme: str, reason: str) -> NoReturn:
    raise ConfigError(
        f"items cannot go to {without_password(output)!r}: {reason}; write {_EXAMPLES[scheme]}, "
        "with %XX for special characters in names and in the password"
    )
