"""The SQL of a database: the names, types and statements for one table. Pure, no connection."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from weft.sinks.sql.address import SqlAddress
from weft.sinks.sql.columns import KEY, Changes, Column, Names, Room
from weft.sinks.sql.kinds import ColumnKind
from weft.sinks.sql.values import Forms


class Upsert(NamedTuple):
    """A statement in three pieces; the middle one is a row, and may be repeated if the database
    accepts several at once."""

    head: str
    row: str
    tail: str

    def of_rows(self, count: int) -> str:
        return f"{self.head}{','.join([self.row] * count)}{self.tail}"


class SqlDialect(ABC):
    forms: Forms
    names: Names
    room: Room
    types: Mapping[ColumnKind, str]
    #: The statement that begins a transaction that writes; empty: the driver begins it.
    begin = ""

    def __init__(self, address: SqlAddress) -> None:
        self.address = address
        #: The name of the table, quoted for statements.
        self.table = ".".join(map(self.quoted, filter(None, (address.schema, address.table))))

    def quoted(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    @abstractmethod
    def placeholder(self, number: int) -> str:
        """The parameter with this number, starting at 1."""

    @abstractmethod
    def create_statements(self) -> Sequence[str]: ...

    @abstractmethod
    def change_statements(self, changes: Changes, columns: Mapping[str, Column]) -> Sequence[str]:
        """The statements that make these changes to a table with these columns."""

    def alter_check(self) -> str:
        """A statement that changes nothing, but fails if we may not change the table. Empty: there
        is nothing to check."""
        return ""

    def upsert(self, columns: Sequence[str], others: Sequence[str]) -> Upsert:
        """Insert rows with values for `columns`; if a row exists, set its `others` to NULL."""
        names = ", ".join(map(self.quoted, columns))
        marks = ", ".join(self.placeholder(number + 1) for number in range(len(columns)))
        return Upsert(
            f"INSERT INTO {self.table} ({names}) VALUES ",
            f"({marks})",
            self._on_conflict(", ".join(self._assignments(columns, others))),
        )

    def _assignments(self, columns: Sequence[str], others: Sequence[str]) -> Iterator[str]:
        for name in map(self.quoted, (name for name in columns if name != KEY)):
            yield f"{name} = {self._inserted(name)}"
        for name in map(self.quoted, others):
            yield f"{name} = NULL"

    def _inserted(self, quoted: str) -> str:
        """The value that the row would have if no row with the same key existed."""
        return f"excluded.{quoted}"

    def _on_conflict(self, assignments: str) -> str:
        return f" ON CONFLICT ({self.quoted(KEY)}) DO UPDATE SET {assignments}"
