"""The SQL of MySQL and MariaDB."""

from collections.abc import Mapping, Sequence

from weft.sinks.sql.columns import KEY, Changes, Column, Names, Room
from weft.sinks.sql.dialect import SqlDialect
from weft.sinks.sql.kinds import ColumnKind
from weft.sinks.sql.values import Forms


class MySqlDialect(SqlDialect):
    # MariaDB rejects JSON from 32 levels on, MySQL from 101 on.
    forms = Forms(max_json_depth=31, decimal_digits=(28, 10))
    names = Names(64, length=len, folded=str.casefold, last="\uffff")
    # A row has to fit into half a page of 16 KB, including the first 40 bytes of long values. More
    # columns can be added than can be filled.
    room = Room(
        1000,
        7900,
        {
            ColumnKind.BOOL: 2,
            ColumnKind.INT: 9,
            ColumnKind.FLOAT: 9,
            ColumnKind.DECIMAL: 18,
            ColumnKind.DATETIME: 9,
            ColumnKind.DATE: 4,
            ColumnKind.TEXT: 41,
        },
    )
    types: Mapping[ColumnKind, str] = {
        ColumnKind.BOOL: "BOOLEAN",
        ColumnKind.INT: "BIGINT",
        ColumnKind.FLOAT: "DOUBLE",
        ColumnKind.DECIMAL: "DECIMAL(38,10)",
        ColumnKind.DATETIME: "DATETIME(6)",
        ColumnKind.DATE: "DATE",
        ColumnKind.BYTES: "LONGBLOB",
        ColumnKind.JSON: "JSON",
        ColumnKind.TEXT: "LONGTEXT",
    }

    def quoted(self, name: str) -> str:
        # The driver interprets %.
        return "`" + name.replace("`", "``").replace("%", "%%") + "`"

    def placeholder(self, number: int) -> str:
        return "%s"

    def create_statements(self) -> Sequence[str]:
        # `_more` is not JSON: it holds values that are nested too deeply for that.
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

    def change_statements(self, changes: Changes, columns: Mapping[str, Column]) -> Sequence[str]:
        clauses = [
            f"ADD COLUMN {self.quoted(name)} {self.types[kind]} NULL"
            for name, kind in changes.added.items()
        ]
        for name, kind in changes.widened.items():
            null = "NULL" if columns[name].is_nullable else "NOT NULL"
            clauses.append(f"MODIFY COLUMN {self.quoted(name)} {self.types[kind]} {null}")
        return [f"ALTER TABLE {self.table} {', '.join(clauses)}"]

    def alter_check(self) -> str:
        return f"ALTER TABLE {self.table}"

    def _inserted(self, quoted: str) -> str:
        return f"VALUES({quoted})"

    def _on_conflict(self, assignments: str) -> str:
        # This matches any unique column. If it is one of the user's, the row is another item, which
        # must not be overwritten: NULL makes the statement fail.
        key = self.quoted(KEY)
        check = f"{key} = IF({key} = VALUES({key}), {key}, NULL)"
        return f" ON DUPLICATE KEY UPDATE {check}, {assignments}"
