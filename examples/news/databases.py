"""Where the articles go: into a MongoDB of our own, unless another is named."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from weft.errors import ConfigError

if TYPE_CHECKING:
    from launchers.mongodb import MongoServer

#: Of the user of our own, who has it as a password too.
NAME = "news"
COLLECTION = "articles"


@contextmanager
def open_collection(given: str | None, say: Callable[[str], None]) -> Iterator[str]:
    """The address of a collection; our own is gone when the context is closed."""
    if given:
        yield given
        return
    with _server() as server:
        with server.client() as client:
            client.admin.command("createUser", NAME, pwd=NAME, roles=["readWriteAnyDatabase"])
        say("The articles go into a MongoDB of our own")
        yield server.address(COLLECTION, user=NAME, password=NAME)


def _server() -> "MongoServer":
    """What starts servers stands beside the examples, and is no part of Weft."""
    sys.path.append(str(Path(__file__).parents[2]))
    try:
        from launchers.mongodb import MongoServer, find_mongod

        find_mongod()
    except (ModuleNotFoundError, ConfigError) as missing:
        named = "name one that runs: run.py mongodb://HOST/DB/articles"
        raise ConfigError(f"no MongoDB can be started here: {missing}; or {named}") from missing
    return MongoServer()
