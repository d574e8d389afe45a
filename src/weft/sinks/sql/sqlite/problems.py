"""What the errors of SQLite mean."""

import sqlite3
from collections.abc import Mapping
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from weft.errors import StoreError
from weft.sinks.disk.errors import errors_of
from weft.sinks.sql.problems import SqlProblems, Trouble

_TROUBLES: Mapping[int, Trouble] = {
    sqlite3.SQLITE_BUSY: Trouble.BUSY,
    sqlite3.SQLITE_LOCKED: Trouble.BUSY,
    sqlite3.SQLITE_SCHEMA: Trouble.STALE,
    sqlite3.SQLITE_TOOBIG: Trouble.REFUSED,
    sqlite3.SQLITE_CONSTRAINT: Trouble.REFUSED,
    sqlite3.SQLITE_MISMATCH: Trouble.REFUSED,
}


class SqliteProblems(SqlProblems):
    def _trouble(self, problem: DBAPIError) -> Trouble:
        text = str(problem.orig)
        if "no such column" in text or "no such table" in text or "has no column" in text:
            return Trouble.STALE
        return _TROUBLES.get(self._code(problem), Trouble.OTHER)

    def _code(self, problem: DBAPIError) -> int:
        return int(getattr(problem.orig, "sqlite_errorcode", 0)) & 0xFF  # without the extended bits

    def _grant(self, right: str) -> str:
        return f"chmod u+w {self.address.database}"

    def _better_error(self, problem: BaseException) -> StoreError | None:
        try:
            with errors_of(Path(self.address.database)):
                raise getattr(problem, "orig", None) or problem
        except StoreError as error:
            return error
        except BaseException:
            return None
