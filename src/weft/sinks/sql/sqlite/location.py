"""How to open an SQLite file."""

from pathlib import Path
from typing import Any

from sqlalchemy import URL

from weft.sinks.disk.errors import errors_of
from weft.sinks.disk.names import prepare_path
from weft.sinks.sql.address import SqlAddress
from weft.sinks.sql.location import SqlLocation

#: How long to wait while another process writes.
BUSY_TIMEOUT_S = 30


class SqliteLocation(SqlLocation):
    driver = "aiosqlite"
    driver_name = "sqlite+aiosqlite"

    def __init__(self, address: SqlAddress) -> None:
        super().__init__(address)
        self._path = Path(address.database)

    @property
    def url(self) -> URL:
        return URL.create(self.driver_name, database=self.address.database)

    def connect_options(self) -> dict[str, Any]:
        # No transactions by the driver: they begin as readers, and fail if another process writes
        # before they do.
        return {"timeout": BUSY_TIMEOUT_S, "isolation_level": None}

    def prepare(self) -> None:
        with errors_of(self._path):
            prepare_path(self._path)

    def is_there(self) -> bool:
        return self._path.is_file()

    def identity(self) -> object:
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino
