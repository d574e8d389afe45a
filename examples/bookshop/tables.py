"""Where the books go: into a MariaDB of our own where one is installed, or else into SQLite."""

import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from weft.errors import ConfigError, StoreError, WeftError

if TYPE_CHECKING:
    from launchers.mariadb import MariaDbServer

#: Of the database, and of its user, who has it as a password too.
NAME = "bookshop"
COUNT = "SELECT COUNT(*) FROM books"
LOOK = "SELECT name, author, ROUND(price, 2) AS price FROM books LIMIT 10"


class Table(NamedTuple):
    #: What `weft crawl -o` is given.
    sink: str
    #: A command to look at it.
    how_to_look: str
    #: 0 before a worker has made the table.
    count_rows: Callable[[], int]


@contextmanager
def open_table(directory: Path, say: Callable[[str], None]) -> Iterator[Table]:
    """The table in a database that runs as long as the context is open."""
    with ExitStack() as stack:
        try:
            server = stack.enter_context(_mariadb_server())
        except ConfigError as missing:
            say(f"The table is in SQLite ({missing})")
            table = _sqlite_table(directory / "books.db")
        else:
            say("The table is in a MariaDB of its own")
            table = _mariadb_table(server)
        yield table


def _mariadb_table(server: "MariaDbServer") -> Table:
    server.ask(f"CREATE DATABASE {NAME}")
    server.ask(f"GRANT ALL ON {NAME}.* TO {NAME}@'%' IDENTIFIED BY '{NAME}'")
    host, port = server.host.split(":")
    client = f"mariadb --host={host} --port={port} --user={NAME} --password={NAME}"
    return Table(
        server.address(NAME, "books", NAME, NAME),
        f'{client} --default-character-set=utf8mb4 {NAME} --execute="{LOOK}"',
        lambda: _count_in_mariadb(server),
    )


def _count_in_mariadb(server: "MariaDbServer") -> int:
    try:
        [[rows]] = server.ask(COUNT, NAME)
    except WeftError as problem:
        if "doesn't exist" in str(problem):
            return 0
        raise
    return int(rows)


def _mariadb_server() -> "MariaDbServer":
    """What starts servers stands beside the examples, and is no part of Weft."""
    sys.path.append(str(Path(__file__).parents[2]))
    from launchers.mariadb import MariaDbServer

    return MariaDbServer()


def _sqlite_table(file: Path) -> Table:
    return Table(
        f"sqlite://{file}/books", f'sqlite3 {file} "{LOOK}"', lambda: _count_in_sqlite(file)
    )


def _count_in_sqlite(file: Path) -> int:
    if not file.exists():
        return 0
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
            return int(connection.execute(COUNT).fetchone()[0])
    except sqlite3.OperationalError as problem:
        if "no such table" in str(problem):
            return 0
        raise StoreError(f"{file} cannot be read: {problem}") from problem
