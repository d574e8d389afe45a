"""What the errors of MySQL and MariaDB mean."""

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError

from weft.sinks.sql.columns import KEY
from weft.sinks.sql.problems import SqlProblems, Trouble

_DOWN = {1040, 1053, 1077, 1079, 1203, 1290, 1836, 1927, 2002, 2003, 2006, 2013, 2055, 4031}
_BUSY = {1020, 1205, 1213}
_STALE = {1054, 1060, 1146, 1412, 1615}
_DENIED = {1044, 1045, 1049, 1142, 1143, 1227, 1370, 1698}
# Rows too large, partitions, triggers that refuse, checks of MySQL and of MariaDB; and for changes:
# too many columns and invalid names.
_REFUSED = {1118, 1153, 1301, 1364, 1366, 1526, 1644, 3140, 3141, 3157, 3819, 4025}
_REFUSED |= {1005, 1074, 1117, 1166, 1300}
_CANNOT_BE_NULL = 1048


class MySqlProblems(SqlProblems):
    wrong_password = frozenset({1045, 1698})
    unknown_database = frozenset({1049})

    def text_of(self, problem: BaseException) -> str:
        text = super().text_of(problem)
        is_null = isinstance(problem, DBAPIError) and self._code(problem) == _CANNOT_BE_NULL
        if is_null and f"'{KEY}'" in text:  # see how the dialect resolves a conflict
            return "another item has the same value in a column that must be unique"
        return text

    def _trouble(self, problem: DBAPIError) -> Trouble:
        code = self._code(problem)
        for trouble, codes in (
            (Trouble.DOWN, _DOWN),
            (Trouble.BUSY, _BUSY),
            (Trouble.STALE, _STALE),
            (Trouble.DENIED, _DENIED),
            (Trouble.REFUSED, _REFUSED),
        ):
            if code in codes:
                return trouble
        is_refused = isinstance(problem, DataError | IntegrityError)
        return Trouble.REFUSED if is_refused else Trouble.OTHER

    def _code(self, problem: DBAPIError) -> object:
        arguments = getattr(problem.orig, "args", ())
        return arguments[0] if arguments else None

    def _grant(self, right: str) -> str:
        database, user = self.dialect.quoted(self.address.database), self.address.user or "the user"
        return f"GRANT {right} ON {database}.* TO '{user}'@'%'"
