"""A master with tokens of each scope, over an empty Redis."""

from collections.abc import Iterator

import pytest

from launchers.redis import RedisServer
from masters import Asker, MasterProcess, asking, master, new_token
from running import Weft

SCOPES = ("read", "write", "admin")


@pytest.fixture
def tokens(weft: Weft, redis_server: RedisServer) -> dict[str, str]:
    """The texts of three tokens, by scope; each has the name of its scope."""
    return {scope: new_token(weft, redis_server.url, scope, scope) for scope in SCOPES}


@pytest.fixture
def running_master(
    weft: Weft, redis_server: RedisServer, tokens: dict[str, str]
) -> Iterator[MasterProcess]:
    with master(weft, redis_server.url) as running:
        yield running


@pytest.fixture
def ask(running_master: MasterProcess, tokens: dict[str, str]) -> Iterator[Asker]:
    """With the scope admin."""
    with asking(running_master.address, tokens["admin"]) as asker:
        yield asker
