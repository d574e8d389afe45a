"""MySQL and MariaDB, with asyncmy."""

from weft.sinks.sql.address import SqlAddress
from weft.sinks.sql.backend import SqlBackend
from weft.sinks.sql.mysql.access import MySqlAccess
from weft.sinks.sql.mysql.dialect import MySqlDialect
from weft.sinks.sql.mysql.location import MySqlLocation
from weft.sinks.sql.mysql.problems import MySqlProblems


def mysql_backend(address: SqlAddress) -> SqlBackend:
    dialect = MySqlDialect(address)
    return SqlBackend(
        address, MySqlLocation(address), dialect, MySqlAccess(dialect), MySqlProblems(dialect)
    )
