"""The address of a store: where the frontier of a job lives."""

from pathlib import Path

import msgspec

from weft.errors import ConfigError
from weft.urls import without_password

REDIS_SCHEMES = ("redis", "rediss", "redis+sentinel", "redis+cluster", "unix")

_HELP = (
    "write rocks:///DIR for a directory with an absolute path or rocks://DIR for one below the "
    "working directory; or redis://HOST:PORT/DB, rediss://… (TLS), unix:///SOCKET?db=DB, "
    "redis+sentinel://HOST:PORT,HOST:PORT/MASTER/DB, or redis+cluster://HOST:PORT"
)


class Store(msgspec.Struct, frozen=True):
    """A store that the user has named."""

    #: As the user wrote it.
    url: str
    #: The directory of an embedded store; None: the store is a server that others share.
    directory: Path | None = None

    @property
    def is_shared(self) -> bool:
        return self.directory is None

    @property
    def place(self) -> str:
        """The address as it may be shown: without a password."""
        return without_password(self.url)


def parse_store(text: str) -> Store:
    """Raises ConfigError for what is no store."""
    scheme, separator, rest = text.partition("://")
    if separator and rest.strip("/"):
        if scheme.lower() == "rocks":
            return Store(text, Path(rest))
        if scheme.lower() in REDIS_SCHEMES:
            return Store(text)
    raise ConfigError(f"{Store(text).place!r} is no store; {_HELP}")
