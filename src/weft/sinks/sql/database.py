"""What the databases have in common as the sink uses them, and where they differ."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from enum import Enum, auto
from typing import Any, NamedTuple

from sqlalchemy import URL
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from weft.errors import StoreError
from weft.sinks.sql.address import Address
from weft.sinks.sql.kinds import Kind
from weft.sinks.sql.layout import KEY, Changes, Column, Names, Room
from weft.sinks.sql.values import Forms

#: How long a server may take to answer when we connect.
CONNECT_S = 10


class Trouble(Enum):
    """What is to be done about an error of a database."""

    #: It cannot be reached: try again when it is back.
    DOWN = auto()
    #: Others were in the way: try again at once.
    BUSY = auto()
    #: The table is not what we took it for: look again.
    STALE = auto()
    #: It never takes this row.
    REFUSED = auto()
    #: We are not allowed to.
    DENIED = auto()
    #: Whatever else: the crawl cannot go on.
    OTHER = auto()


class Upsert(NamedTuple):
    """A statement in three parts; the middle one is a row, and may be repeated if the database
    takes several at once."""

    head: str
    row: str
    tail: str

    def of_rows(self, count: int) -> str:
        return f"{self.head}{','.join([self.row] * count)}{self.tail}"


class Database(ABC):
    """One table, and how its database is spoken to. It holds no connection."""

    #: As people call it.
    title: str
    #: The module that has to be installed.
    driver: str
    #: Name of the driver in SQLAlchemy.
    dialect: str
    forms: Forms
    names: Names
    room: Room
    types: Mapping[Kind, str]
    #: Codes of errors.
    wrong_password: frozenset[object] = frozenset()
    unknown_database: frozenset[object] = frozenset()

    def __init__(self, address: Address) -> None:
        self.address = address

    @property
    def url(self) -> URL:
        address = self.address
        return URL.create(
            self.dialect,
            address.user or None,
            address.password or None,
            address.host,
            address.port,
            address.database,
        )

    @abstractmethod
    def connect_options(self) -> dict[str, Any]:
        """More that the driver is told. Raises StoreError for options that cannot be."""

    @property
    def table(self) -> str:
        """Its name as it stands in statements."""
        return self.quoted(self.address.table)

    def quoted(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    @abstractmethod
    def placeholder(self, number: int) -> str:
        """The parameter with this number, from 1 on."""

    def identity(self) -> object:
        """What is at the address now; changes if somebody puts something else there."""
        return None

    def is_there(self) -> bool:
        """False if there is nothing to connect to, and connecting would make it."""
        return True

    def prepare_place(self) -> None:  # noqa: B027 - most need nothing
        """Make what has to be there before we connect."""

    async def prepare(self, connection: AsyncConnection) -> None:  # noqa: B027 - as above
        """Before anything else, on every new connection that is to write."""

    async def begin(self, connection: AsyncConnection) -> None:  # noqa: B027 - as above
        """At the beginning of every transaction that writes."""

    @abstractmethod
    async def columns(self, connection: AsyncConnection) -> Mapping[str, Column]:
        """All columns of the table, ours too; none if there is no table."""

    @abstractmethod
    def create_statements(self) -> Sequence[str]: ...

    async def lock_changes(self, connection: AsyncConnection) -> None:  # noqa: B027 - as above
        """Only one of all workers may change the table, until `unlock_changes` or the end of the
        transaction."""

    async def unlock_changes(self, connection: AsyncConnection) -> None:  # noqa: B027 - as above
        pass

    async def check_alter(self, connection: AsyncConnection) -> None:  # noqa: B027 - as above
        """Fails if we may not change the table."""

    def savepoint(self, connection: AsyncConnection) -> AbstractAsyncContextManager[object]:
        """Takes back changes inside of it that fail."""
        return connection.begin_nested()

    @abstractmethod
    def change_statements(self, changes: Changes, columns: Mapping[str, Column]) -> Sequence[str]:
        """What makes these changes to a table of these columns."""

    def upsert(self, columns: Sequence[str], others: Sequence[str]) -> Upsert:
        """Rows with values for `columns`; if a row was there before, its `others` become NULL."""
        names = ", ".join(map(self.quoted, columns))
        marks = ", ".join(self.placeholder(number + 1) for number in range(len(columns)))
        return Upsert(
            f"INSERT INTO {self.table} ({names}) VALUES ",
            f"({marks})",
            self.on_conflict(", ".join(self._assignments(columns, others))),
        )

    def _assignments(self, columns: Sequence[str], others: Sequence[str]) -> Iterator[str]:
        for name in map(self.quoted, (name for name in columns if name != KEY)):
            yield f"{name} = {self.inserted(name)}"
        for name in map(self.quoted, others):
            yield f"{name} = NULL"

    def inserted(self, quoted: str) -> str:
        """The value that a row would have got if there had not been one with the same key."""
        return f"excluded.{quoted}"

    def on_conflict(self, assignments: str) -> str:
        return f" ON CONFLICT ({self.quoted(KEY)}) DO UPDATE SET {assignments}"

    async def insert(
        self, connection: AsyncConnection, upsert: Upsert, rows: Sequence[tuple[object, ...]]
    ) -> None:
        await connection.exec_driver_sql(upsert.of_rows(1), list(rows))

    def too_large(self, row: tuple[object, ...]) -> str:
        """Why a row can never be sent; empty if it can."""
        return ""

    def trouble(self, problem: DBAPIError) -> Trouble:
        """What kind of error it is. Where connections break, SQLAlchemy knows."""
        return Trouble.DOWN if problem.connection_invalidated else self._trouble(problem)

    @abstractmethod
    def _trouble(self, problem: DBAPIError) -> Trouble: ...

    def text_of(self, problem: BaseException) -> str:
        """What the database says, without what SQLAlchemy adds: a statement may be very long."""
        origin = getattr(problem, "orig", None) or problem
        arguments = origin.args
        text = str(arguments[-1] if arguments else origin) or type(origin).__name__
        return text.partition("\n")[0]

    def error(self, problem: BaseException) -> StoreError | None:
        """A better error than the general one, if there is."""
        return None

    def cure(self, problem: BaseException, right: str) -> str:
        """What to do when we are not let in, or lack a right."""
        code = self.code(problem) if isinstance(problem, DBAPIError) else None
        if code in self.wrong_password:
            return "check the user and the password in the address"
        if code in self.unknown_database:
            return f"make it: CREATE DATABASE {self.quoted(self.address.database)}"
        or_else = ", or crawl with --schema strict" if right == "ALTER" else ""
        return f"let an administrator say: {self.grant(right)}{or_else}"

    @abstractmethod
    def code(self, problem: DBAPIError) -> object:
        """The number or name of an error."""

    @abstractmethod
    def grant(self, right: str) -> str:
        """What an administrator has to say to give us a right."""
