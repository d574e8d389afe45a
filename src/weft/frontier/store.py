"""Where the frontier of a job lives: the address of its store, its name there, its directory."""

from pathlib import Path

import msgspec

from weft.config import default_job_dir, job_name
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
    """Raises ConfigError for text that is not a store."""
    scheme, separator, rest = text.partition("://")
    if separator and rest.strip("/"):
        if scheme.lower() == "rocks":
            return Store(text, Path(rest))
        if scheme.lower() in REDIS_SCHEMES:
            return Store(text)
    raise ConfigError(f"{Store(text).place!r} is not a store; {_HELP}")


class JobHome(msgspec.Struct, frozen=True):
    """A job, and where it lives."""

    store: Store
    #: Its name in a shared store.
    job: str
    #: What it keeps on this machine: its items by default, and the frontier if that is embedded.
    job_dir: Path

    def __str__(self) -> str:
        """For people."""
        return f"{self.job} in {self.store.place}" if self.store.is_shared else str(self.job_dir)


def find_home(name: str, *, job_dir: str = "", store: str = "") -> JobHome:
    """The home of the job with this name. What the user does not say (empty) is in `.weft`. Raises
    ConfigError for text that is not a store."""
    job = job_name(name)
    own_dir = Path(job_dir) if job_dir else default_job_dir(job if store else name)
    place = parse_store(store) if store else Store(f"rocks://{own_dir}", own_dir)
    return JobHome(place, job, place.directory or own_dir)
