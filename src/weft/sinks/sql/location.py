"""Where a table is, and what its driver needs to get there."""

from abc import ABC, abstractmethod
from typing import Any

from sqlalchemy import URL

from weft.sinks.sql.address import SqlAddress

#: How long a server may take to answer when we connect.
CONNECT_S = 10


class SqlLocation(ABC):
    #: The module that has to be installed.
    driver: str
    #: The name of the driver in SQLAlchemy.
    driver_name: str

    def __init__(self, address: SqlAddress) -> None:
        self.address = address

    @property
    def url(self) -> URL:
        address = self.address
        return URL.create(
            self.driver_name,
            address.user or None,
            address.password or None,
            address.host,
            address.port,
            address.database,
        )

    @abstractmethod
    def connect_options(self) -> dict[str, Any]:
        """Further options for the driver. Raises ConfigError for invalid options."""

    def prepare(self) -> None:  # noqa: B027 - servers need nothing
        """Create whatever has to exist before we connect."""

    def is_there(self) -> bool:
        """False if there is nothing to connect to, and connecting would create it."""
        return True

    def identity(self) -> object:
        """Identifies what is there now; changes if something else replaces it."""
        return None
