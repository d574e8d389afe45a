"""All that the sink has to know about one kind of database."""

from typing import NamedTuple

from weft.sinks.sql.access import TableAccess
from weft.sinks.sql.address import SqlAddress
from weft.sinks.sql.dialect import SqlDialect
from weft.sinks.sql.location import SqlLocation
from weft.sinks.sql.problems import SqlProblems


class SqlBackend(NamedTuple):
    """One table in a MySQL, PostgreSQL or SQLite database. It holds no connection."""

    address: SqlAddress
    location: SqlLocation
    dialect: SqlDialect
    access: TableAccess
    problems: SqlProblems
