"""How to connect to MySQL and MariaDB."""

from typing import Any

from weft.sinks.sql.encryption import ssl_context
from weft.sinks.sql.location import CONNECT_S, SqlLocation

# Without strict mode, values that do not fit are silently truncated. With NO_BACKSLASH_ESCAPES or
# ANSI_QUOTES, which are left out here, the driver's literals would mean something else. Without
# room for warnings, the driver does not print them: MySQL has one for each upsert.
INIT = (
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', SESSION max_error_count = 0"
)


class MySqlLocation(SqlLocation):
    driver = "asyncmy"
    driver_name = "mysql+asyncmy"

    def connect_options(self) -> dict[str, Any]:
        options: dict[str, Any] = {
            "charset": "utf8mb4",
            "connect_timeout": CONNECT_S,
            "init_command": INIT,
        }
        if "unix_socket" in self.address.options:
            options["unix_socket"] = self.address.options["unix_socket"]
        context = ssl_context(self.address)
        return {**options, "ssl": context} if context else options
