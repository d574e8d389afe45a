"""`mongodb://user:password@host,host2/db/collection?options`: MongoDB's own address format, with
the collection after the database."""

import re
import warnings
from typing import Any
from urllib.parse import quote, unquote

import msgspec
from pymongo import AsyncMongoClient
from pymongo.errors import PyMongoError

from weft.errors import ConfigError

#: Defaults for options that the address omits. A server that hangs must not block the crawl for
#: ever, and a missing server should be noticed while the user is still watching.
DEFAULT_OPTIONS = {
    "appName": "weft",
    "serverSelectionTimeoutMS": "5000",
    "connectTimeoutMS": "5000",
    "socketTimeoutMS": "30000",
}

EXAMPLE = "mongodb://user:password@host:27017/database/collection?authSource=admin"

#: Database names become file names.
_FORBIDDEN_IN_DATABASE = frozenset('/\\. "$\0')
MAX_DATABASE_BYTES = 63
#: For database and collection, joined by a dot.
MAX_NAMESPACE_BYTES = 255

Client = AsyncMongoClient[dict[str, Any]]


class MongoAddress(msgspec.Struct, frozen=True):
    scheme: str
    #: The servers, safe to display.
    host: str
    #: Empty: no user was given.
    user: str
    database: str
    collection: str
    #: The form that PyMongo takes; it contains the password.
    _uri: str

    def __repr__(self) -> str:
        return f"MongoAddress({self.place!r})"

    @property
    def place(self) -> str:
        """Without user, password and options, which may contain secrets too."""
        names = f"{quote(self.database)}/{quote(self.collection, safe='')}"
        return f"{self.scheme}://{self.host}/{names}"

    def client(self) -> Client:
        """Not connected yet. Raises ConfigError for options that PyMongo rejects."""
        try:
            with warnings.catch_warnings():
                # PyMongo only warns about options that it ignores.
                warnings.simplefilter("error")
                return AsyncMongoClient(self._uri)
        except (PyMongoError, ValueError, TypeError, OSError, UserWarning) as problem:
            raise ConfigError(f"{self.place} cannot be used: {problem}; {_how()}") from problem


def parse_address(output: str) -> MongoAddress:
    """Raises ConfigError, which never shows the password."""
    scheme, _, rest = output.partition("://")
    authority, path, options = _parts(rest)
    credentials, _, host = authority.rpartition("@")
    if not host:
        raise ConfigError(f"a MongoDB address does not name a server; {_how()}")
    database, collection = _names(f"{scheme}://{host}{path}", path)
    uri = f"{scheme}://{authority}/{quote(database, safe='')}?{_with_defaults(options)}"
    user = unquote(credentials.partition(":")[0])
    address = MongoAddress(scheme, host, user, database, collection, uri)
    address.client()  # now, not after the crawl has started
    return address


def _parts(rest: str) -> tuple[str, str, str]:
    """Authority, path and options."""
    authority = re.split("[/?#]", rest, maxsplit=1)[0]
    after = rest[len(authority) :]
    # It is most likely the end of a password, so none of it is place.
    if "@" in after:
        raise ConfigError(
            "a MongoDB address has an @ after a /, ? or #: in the user and the password, write "
            "%40, %2F, %3F and %23 instead"
        )
    path, _, options = after.partition("?")
    return authority, path, options


def _names(place: str, path: str) -> tuple[str, str]:
    names = [unquote(name) for name in path.split("/")[1:]]
    if len(names) != 2 or not all(names):
        raise ConfigError(f"{place} does not name a database and a collection; {_how()}")
    database, collection = names
    if problem := _database_problem(database) or _collection_problem(collection):
        raise ConfigError(f"{place} cannot be used: {problem}; {_how()}")
    if len(f"{database}.{collection}".encode()) > MAX_NAMESPACE_BYTES:
        raise ConfigError(
            f"{place} cannot be used: the names of the database and the collection together "
            f"have more than {MAX_NAMESPACE_BYTES - 1} bytes; choose shorter ones"
        )
    return database, collection


def _database_problem(name: str) -> str:
    if not _FORBIDDEN_IN_DATABASE.isdisjoint(name):
        return (
            f'MongoDB does not allow / \\ . " $, space or NUL in the name of a database: {name!r}'
        )
    if len(name.encode()) > MAX_DATABASE_BYTES:
        return f"the name of a database can have at most {MAX_DATABASE_BYTES} bytes: {name!r}"
    return ""


def _collection_problem(name: str) -> str:
    if "$" in name or "\0" in name:
        return f"MongoDB does not allow $ or NUL in the name of a collection: {name!r}"
    if name.startswith(("system.", ".")) or name.endswith(".") or ".." in name:
        return f"MongoDB does not allow dots like these in the name of a collection: {name!r}"
    return ""


def _with_defaults(options: str) -> str:
    # PyMongo ignores case.
    given = {option.partition("=")[0].lower() for option in re.split("[&;]", options)}
    added = [
        f"{name}={value}" for name, value in DEFAULT_OPTIONS.items() if name.lower() not in given
    ]
    return "&".join([*([options] if options else []), *added])


def _how() -> str:
    return f"write it like {EXAMPLE}"
