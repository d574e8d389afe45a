"""A table as we know it: how items become rows of it, and by which statements they are stored."""

from collections.abc import Mapping

from weft.errors import StoreError
from weft.sinks.base import SinkConfig
from weft.sinks.sql.database import Database, Upsert
from weft.sinks.sql.layout import KEY, OURS, Column, Layout
from weft.sinks.sql.rows import Encoder

#: Statements that are kept; items of so many different shapes come from nowhere but a mistake.
MAX_STATEMENTS = 100


class Table:
    def __init__(self, database: Database, layout: Layout, config: SinkConfig) -> None:
        self.layout = layout
        # A table that has no fields yet gets those of the first items, even if it is strict.
        is_fixed = config.is_strict and bool(layout.columns)
        self.encoder = Encoder(layout, database.forms, config.job, is_fixed=is_fixed)
        self._database = database
        self._upserts: dict[tuple[str, ...], Upsert] = {}

    def upsert(self, columns: tuple[str, ...]) -> Upsert:
        found = self._upserts.get(columns)
        if found is None:
            if len(self._upserts) >= MAX_STATEMENTS:
                self._upserts.clear()
            found = self._upserts[columns] = self._database.upsert(columns, self._others(columns))
        return found

    def _others(self, columns: tuple[str, ...]) -> list[str]:
        """The newer item wins completely; but what must not be NULL is not ours to change."""
        return [
            name
            for name, column in self.layout.columns.items()
            if column.is_nullable and name not in columns
        ]


def check_ours(database: Database, columns: Mapping[str, Column]) -> None:
    missing = sorted(OURS.difference(columns))
    if not columns:
        raise StoreError(
            f"the table {database.address.shown} is gone; run the same command again to make it"
        )
    if KEY in missing:
        raise StoreError(
            f"the table {database.address.shown} is there already and was not made by Weft: it has "
            f"no column {KEY}; choose the name of another table, which Weft will make"
        )
    if missing:
        raise StoreError(
            f"the table {database.address.shown} lacks the columns {', '.join(missing)}; choose "
            "the name of another table, which Weft will make"
        )
