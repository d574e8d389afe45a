"""How to connect to PostgreSQL."""

from typing import Any

from weft.sinks.sql.encryption import ssl_context
from weft.sinks.sql.location import CONNECT_S, SqlLocation


class PostgreSqlLocation(SqlLocation):
    driver = "asyncpg"
    driver_name = "postgresql+asyncpg"

    def connect_options(self) -> dict[str, Any]:
        given = self.address.options
        options: dict[str, Any] = {"timeout": CONNECT_S}
        if "ssl" in given or "ssl_ca" in given:
            options["ssl"] = ssl_context(self.address) or False
        if "unix_socket" in given:
            options["host"] = given["unix_socket"]
        return options
