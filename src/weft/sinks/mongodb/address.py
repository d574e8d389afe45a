"""`mongodb://user:password@host,host2/db/collection?options`: MongoDB's own form of an address,
with the collection behind the database."""

import re
import warnings
from typing import Any
from urllib.parse import quote, unquote

import msgspec
from pymongo import AsyncMongoClient
from pymongo.errors import PyMongoError

from weft.errors import ConfigError

#: What the address need not say. A server that says nothing must not hold up the crawl for ever,
#: and one that is not there is to be noticed while the user still looks.
DEFAULT_OPTIONS = {
    "appName": "weft",
    "serverSelectionTimeoutMS": "5000",
    "connectTimeoutMS": "5000",
    "socketTimeoutMS": "30000",
}

EXAMPLE = "mongodb://user:password@host:27017/database/collection?authSource=admin"

#: Names of databases become names of files.
_FORBIDDEN_IN_DATABASE = frozenset('/\\. "$\0')
MAX_DATABASE_BYTES = 63
#: Of database and collection, with a dot between them.
MAX_NAMESPACE_BYTES = 255

Client = AsyncMongoClient[dict[str, Any]]


class Address(msgspec.Struct, frozen=True):
    scheme: str
    #: The servers, as they may be shown.
    host: str
    #: Empty: no user is named.
    user: str
    database: str
    collection: str
    #: As PyMongo takes it; it holds the password.
    _uri: str

    def __repr__(self) -> str:
        return f"Address({self.place!r})"

    @property
    def place(self) -> str:
        """Without user, password and options, which may hold secrets too."""
        names = f"{quote(self.database)}/{quote(self.collection, safe='')}"
        return f"{self.scheme}://{self.host}/{names}"

    def client(self) -> Client:
        """Not connected yet. Raises ConfigError for options that PyMongo does not understand."""
        try:
            with warnings.catch_warnings():
                # An option that is ignored is a mistake that nobody sees.
                warnings.simplefilter("error")
                return AsyncMongoClient(self._uri)
        except (PyMongoError, ValueError, TypeError, OSError, UserWarning) as problem:
            raise ConfigError(f"{self.place} cannot be used: {problem}; {_how()}") from problem


def parse_address(output: str) -> Address:
    """Raises ConfigError, which never shows the password."""
    scheme, _, rest = output.partition("://")
    authority, path, options = _parts(rest)
    credentials, _, host = authority.rpartition("@")
    if not host:
        raise ConfigError(f"a MongoDB address names no server; {_how()}")
    database, collection = _names(f"{scheme}://{host}{path}", path)
    uri = f"{scheme}://{authority}/{quote(database, safe='')}?{_with_defaults(options)}"
    user = unquote(credentials.partition(":")[0])
    address = Address(scheme, host, user, database, collection, uri)
    address.client()  # now, not when the crawl has begun
    return address


def _parts(rest: str) -> tuple[str, str, str]:
    """Authority, path and options."""
    authority = re.split("[/?#]", rest, maxsplit=1)[0]
    behind = rest[len(authority) :]
    # It most likely is the end of a password, so nothing of it is shown.
    if "@" in behind:
        raise ConfigError(
            "a MongoDB address has an @ behind a /, ? or #: write those of user and password as "
            "%40, %2F, %3F and %23"
        )
    path, _, options = behind.partition("?")
    return authority, path, options


def _names(shown: str, path: str) -> tuple[str, str]:
    names = [unquote(name) for name in path.split("/")[1:]]
    if len(names) != 2 or not all(names):
        raise ConfigError(f"{shown} does not name a database and a collection; {_how()}")
    database, collection = names
    if problem := _database_problem(database) or _collection_problem(collection):
        raise ConfigError(f"{shown} cannot be used: {problem}; {_how()}")
    if len(f"{database}.{collection}".encode()) > MAX_NAMESPACE_BYTES:
        raise ConfigError(
            f"{shown} cannot be used: the names of database and collection have more than "
            f"{MAX_NAMESPACE_BYTES - 1} bytes together; choose shorter ones"
        )
    return database, collection


def _database_problem(name: str) -> str:
    if not _FORBIDDEN_IN_DATABASE.isdisjoint(name):
        return f'MongoDB allows no / \\ . " $, space or NUL in the name of a database: {name!r}'
    if len(name.encode()) > MAX_DATABASE_BYTES:
        return f"the name of a database has {MAX_DATABASE_BYTES} bytes at most: {name!r}"
    return ""


def _collection_problem(name: str) -> str:
    if "$" in name or "\0" in name:
        return f"MongoDB allows no $ or NUL in the name of a collection: {name!r}"
    if name.startswith(("system.", ".")) or name.endswith(".") or ".." in name:
        return f"MongoDB allows no such dots in the name of a collection: {name!r}"
    return ""


def _with_defaults(options: str) -> str:
    # PyMongo does not mind case.
    given = {option.partition("=")[0].lower() for option in re.split("[&;]", options)}
    added = [
        f"{name}={value}" for name, value in DEFAULT_OPTIONS.items() if name.lower() not in given
    ]
    return "&".join([*([options] if options else []), *added])


def _how() -> str:
    return f"write it like {EXAMPLE}"
