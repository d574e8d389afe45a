"""The SQL of SQLite."""

from collections.abc import Mapping, Sequence

from weft.sinks.sql.columns import Changes, Column, Names, Room
from weft.sinks.sql.dialect import SqlDialect
from weft.sinks.sql.kinds import ColumnKind
from weft.sinks.sql.values import Forms


class SqliteDialect(SqlDialect):
    forms = Forms(has_text_dates=True)
    names = Names(200, length=len, folded=str.lower)
    room = Room(1000, 10**9, {ColumnKind.TEXT: 1})
    # The type decides how SQLite stores a value: types with "TEXT" in them keep text, while a
    # column of type JSON would turn the text 007 into the number 7. There are no exact decimals.
    types: Mapping[ColumnKind, str] = {
        ColumnKind.BOOL: "BOOLEAN",
        ColumnKind.INT: "BIGINT",
        ColumnKind.FLOAT: "DOUBLE",
        ColumnKind.DATETIME: "TIMESTAMP TEXT",
        ColumnKind.DATE: "DATE TEXT",
        ColumnKind.BYTES: "BLOB",
        ColumnKind.JSON: "JSON TEXT",
        ColumnKind.TEXT: "TEXT",
    }
    begin = "BEGIN IMMEDIATE"

    def placeholder(self, number: int) -> str:
        return "?"

    def create_statements(self) -> Sequence[str]:
        name = self.address.table
        return [
            f"""
            CREATE TABLE {self.table} (
                _id INTEGER PRIMARY KEY AUTOINCREMENT,
                _key CHAR(32) NOT NULL UNIQUE,
                _job TEXT NOT NULL,
                _page TEXT NOT NULL,
                _fetched_at TIMESTAMP TEXT,
                _more JSON TEXT
            )
            """,
            f"CREATE INDEX {self.quoted(f'{name}_fetched_at')} ON {self.table} (_fetched_at)",
            f"CREATE INDEX {self.quoted(f'{name}_job')} ON {self.table} (_job, _fetched_at)",
        ]

    def change_statements(self, changes: Changes, columns: Mapping[str, Column]) -> Sequence[str]:
        alter = f"ALTER TABLE {self.table}"
        statements = [
            f"{alter} ADD COLUMN {self.quoted(name)} {self.types[kind]}"
            for name, kind in changes.added.items()
        ]
        for name, kind in changes.widened.items():
            # SQLite cannot change the type of a column.
            old, new, type_ = self.quoted(name), self.quoted(f"{name} (wider)"), self.types[kind]
            statements += [
                f"{alter} ADD COLUMN {new} {type_}",
                f"UPDATE {self.table} SET {new} = CAST({old} AS {type_})",
                f"{alter} DROP COLUMN {old}",
                f"{alter} RENAME COLUMN {new} TO {old}",
            ]
        return statements
