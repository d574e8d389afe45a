"""A table as we know it: how items become its rows, and which statements store them."""

from collections.abc import Mapping

from weft.errors import StoreError
from weft.sinks.base import SinkConfig
from weft.sinks.sql.address import SqlAddress
from weft.sinks.sql.columns import KEY, OURS, Column, TableColumns
from weft.sinks.sql.dialect import SqlDialect, Upsert
from weft.sinks.sql.rows import Encoder

#: How many statements are kept; only a mistake produces items with so many sets of fields.
MAX_STATEMENTS = 100


class Table:
    def __init__(self, dialect: SqlDialect, columns: TableColumns, config: SinkConfig) -> None:
        self.columns = columns
        # A table without fields gets those of the first items, even if it is strict.
        is_fixed = config.is_strict and bool(columns.by_name)
        self.encoder = Encoder(columns, dialect.forms, config.job, is_fixed=is_fixed)
        self._dialect = dialect
        self._upserts: dict[tuple[str, ...], Upsert] = {}

    def upsert(self, columns: tuple[str, ...]) -> Upsert:
        found = self._upserts.get(columns)
        if found is None:
            if len(self._upserts) >= MAX_STATEMENTS:
                self._upserts.clear()
            found = self._upserts[columns] = self._dialect.upsert(columns, self._others(columns))
        return found

    def _others(self, columns: tuple[str, ...]) -> list[str]:
        """The newer item replaces all of the older one, except columns that must not be NULL."""
        return [
            name
            for name, column in self.columns.by_name.items()
            if column.is_nullable and name not in columns
        ]


def check_ours(address: SqlAddress, columns: Mapping[str, Column]) -> None:
    """Raises StoreError if the table is not one that Weft created."""
    missing = sorted(OURS.difference(columns))
    if not columns:
        raise StoreError(
            f"the table {address.place} is gone; run the same command again to create it"
        )
    if KEY in missing:
        raise StoreError(
            f"the table {address.place} already exists and was not created by Weft: it has no "
            f"column {KEY}; choose the name of another table, which Weft will create"
        )
    if missing:
        raise StoreError(
            f"the table {address.place} lacks the columns {', '.join(missing)}; choose the name of "
            "another table, which Weft will create"
        )
