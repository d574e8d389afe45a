"""The columns of a table, and which fields have, or can get, a column of their own.

All other fields are kept in the column `_more`, as one JSON object.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec

from weft.sinks.sql.kinds import ColumnKind

KEY = "_key"
MORE = "_more"
#: What a row holds besides the fields of the item; the database assigns `_id`.
BOOKKEEPING = (KEY, "_job", "_page", "_fetched_at", MORE)
OURS = frozenset({"_id", *BOOKKEEPING})


class Column(NamedTuple):
    kind: ColumnKind
    is_nullable: bool = True


class Room(msgspec.Struct, frozen=True):
    """The limits of one table."""

    max_columns: int
    #: A row must fit into a page of the database. Long values are stored elsewhere, but the
    #: pointers to them are in the row.
    max_row_bytes: int
    #: The most that a value of each kind takes in the row.
    bytes_of: Mapping[ColumnKind, int]

    def bytes_for(self, kind: ColumnKind) -> int:
        return self.bytes_of.get(kind, self.bytes_of[ColumnKind.TEXT])


class Names(msgspec.Struct, frozen=True):
    """The rules for column names."""

    max_length: int
    #: How the database measures the length of a name.
    length: Callable[[str], int]
    #: Two names that are equal in this form are the same to the database.
    folded: Callable[[str], str]
    #: The highest character that is allowed in names.
    last: str = "\U0010ffff"

    def can_be(self, name: object) -> bool:
        return (
            isinstance(name, str)
            and name.isprintable()
            and name == name.strip()
            and 0 < self.length(name) <= self.max_length
            and max(name) <= self.last
            and name.lower() not in OURS
        )


class TableColumns:
    """The columns of a table that hold fields, as they are now.

    `homeless` fields cannot get a column; `fixed` columns cannot be widened.
    """

    def __init__(
        self,
        columns: Mapping[str, Column],
        names: Names,
        room: Room,
        homeless: frozenset[str] = frozenset(),
        fixed: frozenset[str] = frozenset(),
    ) -> None:
        self.by_name = columns
        self.kinds = {name: column.kind for name, column in columns.items()}
        self.homeless = homeless
        self.fixed = fixed
        self._names = names
        self._room = room
        self._folded = {names.folded(name) for name in (*OURS, *columns)}
        self._free_bytes = room.max_row_bytes - sum(map(room.bytes_for, self.kinds.values()))
        self._free_columns = room.max_columns - len(OURS) - len(columns)

    def can_be_added(self, name: str) -> bool:
        """Whether a column of this name is possible, ignoring the room left."""
        if name in self.homeless or not self._names.can_be(name):
            return False
        return self._names.folded(name) not in self._folded

    def grantable(
        self, added: Mapping[str, ColumnKind], widened: Mapping[str, ColumnKind]
    ) -> "Changes":
        """Return the wishes that the table has room for, the first ones first."""
        free_bytes, free_columns = self._free_bytes, self._free_columns
        granted = Changes({}, {})
        for name, kind in widened.items():
            growth = self._room.bytes_for(kind) - self._room.bytes_for(self.kinds[name])
            if growth <= free_bytes:
                granted.widened[name] = kind
                free_bytes -= growth
        folded: set[str] = set()
        for name, kind in added.items():
            form, growth = self._names.folded(name), self._room.bytes_for(kind)
            if form not in folded and growth <= free_bytes and free_columns > 0:
                granted.added[name] = kind
                folded.add(form)
                free_bytes, free_columns = free_bytes - growth, free_columns - 1
        return granted

    def without_hope(
        self, added: Mapping[str, ColumnKind], widened: Mapping[str, ColumnKind]
    ) -> "TableColumns":
        """Return the same columns, with the wishes that were not granted marked as impossible."""
        homeless = self.homeless.union(name for name in added if name not in self.by_name)
        fixed = self.fixed.union(
            name for name, kind in widened.items() if self.kinds.get(name) is not kind
        )
        return TableColumns(self.by_name, self._names, self._room, homeless, fixed)


class Changes(NamedTuple):
    """How a table has to change to hold a batch."""

    added: dict[str, ColumnKind]
    widened: dict[str, ColumnKind]

    def __bool__(self) -> bool:
        return bool(self.added or self.widened)

    def halves(self) -> "list[Changes]":
        """Split the changes in two; empty if there is nothing to split."""
        added, widened = list(self.added.items()), list(self.widened.items())
        if len(added) + len(widened) <= 1:
            return []
        if added and widened:
            return [Changes({}, self.widened), Changes(self.added, {})]
        half = (len(added) + len(widened)) // 2
        return [
            Changes(dict(added[:half]), dict(widened[:half])),
            Changes(dict(added[half:]), dict(widened[half:])),
        ]
