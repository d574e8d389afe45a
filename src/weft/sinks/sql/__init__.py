"""Items in a table of a relational database: MySQL or MariaDB, PostgreSQL, SQLite.

What becomes of an item: `values` says which kind of column each of its values needs and how it is
written there, `layout` which fields can have a column, `rows` what the table lacks for a batch and
what the rows of the batch are. All of these are rules without a connection. `mysql`, `postgresql`
and `sqlite` know how each database is spoken to; `session` talks to it; `sink` and `reader` are the
two users of all that.
"""

from importlib import import_module

from weft.sinks.base import SinkConfig
from weft.sinks.sql.address import parse_address
from weft.sinks.sql.database import Database
from weft.sinks.sql.mysql import MySql
from weft.sinks.sql.postgresql import PostgreSql
from weft.sinks.sql.sink import SqlSink
from weft.sinks.sql.sqlite import SqliteTable

__all__ = ["SqlSink", "make_sink"]

_DATABASES: dict[str, type[Database]] = {
    "mysql": MySql,
    "mariadb": MySql,
    "postgresql": PostgreSql,
    "sqlite": SqliteTable,
}


def make_sink(output: str, config: SinkConfig) -> SqlSink:
    """Raises ConfigError for an address that cannot be, ModuleNotFoundError without the driver."""
    address = parse_address(output)
    database = _DATABASES[address.scheme](address)
    import_module(database.driver)
    return SqlSink(database, config)
