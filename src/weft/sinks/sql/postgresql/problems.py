"""What the errors of PostgreSQL mean."""

from collections.abc import Mapping

from sqlalchemy.exc import DBAPIError

from weft.sinks.sql.problems import SqlProblems, Trouble

#: By prefix of the error code; the longest match counts.
_TROUBLES: Mapping[str, Trouble] = {
    "08": Trouble.DOWN,
    "57P": Trouble.DOWN,
    "53300": Trouble.DOWN,  # too many connections
    "25006": Trouble.DOWN,  # read-only: a replica that will become the primary
    "40": Trouble.BUSY,
    "55P03": Trouble.BUSY,
    "57014": Trouble.BUSY,  # the statement was cancelled
    "42703": Trouble.STALE,
    "42P01": Trouble.STALE,
    "42701": Trouble.STALE,
    "42804": Trouble.STALE,
    "22": Trouble.REFUSED,
    "23": Trouble.REFUSED,
    "44": Trouble.REFUSED,
    "54": Trouble.REFUSED,
    "P0001": Trouble.REFUSED,  # a trigger refuses
    "28": Trouble.DENIED,
    "3D": Trouble.DENIED,
    "3F": Trouble.DENIED,
    "42501": Trouble.DENIED,
}


class PostgreSqlProblems(SqlProblems):
    wrong_password = frozenset({"28000", "28P01"})
    unknown_database = frozenset({"3D000"})

    def text_of(self, problem: BaseException) -> str:
        # "<class 'asyncpg.exceptions.SomeError'>: the message"
        text = super().text_of(problem)
        return text.partition("'>: ")[2] or text

    def _trouble(self, problem: DBAPIError) -> Trouble:
        code = self._code(problem)
        if not code:
            return _trouble_of_driver(str(problem.orig))
        for length in range(len(code), 1, -1):
            trouble = _TROUBLES.get(code[:length])
            if trouble is not None:
                return trouble
        return Trouble.OTHER

    def _code(self, problem: DBAPIError) -> str:
        return getattr(problem.orig, "sqlstate", None) or ""

    def _grant(self, right: str) -> str:
        quoted, table = self.dialect.quoted, self.dialect.table
        user = quoted(self.address.user or "the user")
        if right == "CREATE":
            return f"GRANT CREATE ON SCHEMA {quoted(self.address.schema or 'public')} TO {user}"
        if right == "ALTER":
            return f"ALTER TABLE {table} OWNER TO {user}"
        return f"GRANT {right} ON {table} TO {user}"


def _trouble_of_driver(text: str) -> Trouble:
    """For an error raised by the driver itself, or reworded by it."""
    if "cached statement plan is invalid" in text:
        return Trouble.STALE
    is_refused = "invalid input for query argument" in text
    return Trouble.REFUSED if is_refused else Trouble.OTHER
