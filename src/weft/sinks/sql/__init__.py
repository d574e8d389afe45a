"""Items in a table of a relational database: MySQL or MariaDB, PostgreSQL, SQLite.

`values` decides which kind of column each value of an item needs and how it is written there,
`columns` which fields can have a column, `rows` what the table lacks for a batch and what the rows
of the batch are. These are pure rules that need no connection.

What differs between databases is a `backend`: its `location`, its `dialect`, `access` to the table
and the `problems` it reports. `mysql`, `postgresql` and `sqlite` each provide one. `client` holds
the connection; `sink` and `readback` use all of these.
"""

from collections.abc import Callable
from importlib import import_module

from weft.sinks.base import SinkConfig
from weft.sinks.sql.address import SqlAddress, parse_address
from weft.sinks.sql.backend import SqlBackend
from weft.sinks.sql.mysql import mysql_backend
from weft.sinks.sql.postgresql import postgresql_backend
from weft.sinks.sql.sink import SqlSink
from weft.sinks.sql.sqlite import sqlite_backend

__all__ = ["SqlSink", "make_sink"]

_BACKENDS: dict[str, Callable[[SqlAddress], SqlBackend]] = {
    "mysql": mysql_backend,
    "mariadb": mysql_backend,
    "postgresql": postgresql_backend,
    "sqlite": sqlite_backend,
}


def make_sink(output: str, config: SinkConfig) -> SqlSink:
    """Raises ConfigError for an invalid address, ModuleNotFoundError without the driver."""
    address = parse_address(output)
    backend = _BACKENDS[address.scheme](address)
    import_module(backend.location.driver)
    return SqlSink(backend, config)
