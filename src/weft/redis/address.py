"""Addresses of Redis: `redis://`, `rediss://`, `unix://`, `redis+sentinel://`, `redis+cluster://`.

Turns an address into a client of redis-py.
"""

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from redis.asyncio import Redis, RedisCluster, Sentinel
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.driver_info import DriverInfo

from weft.errors import ConfigError

#: What connections say of themselves. Without it, redis-py looks its version up for each of them.
_DRIVER = DriverInfo()


def shown(url: str) -> str:
    """The address without a password."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()


def connect(
    url: str, greet: Callable[[AbstractConnection], Any], timeout_s: float
) -> "tuple[Redis | RedisCluster, list[Redis]]":
    """Return the client, and those of its sentinels, if there are any."""
    options: dict[str, Any] = {
        "socket_timeout": timeout_s,
        "socket_connect_timeout": timeout_s,
        "retry": Retry(NoBackoff(), 0),  # `Client.run` retries, and logs it
        "redis_connect_func": greet,
        "protocol": 2,
        "driver_info": _DRIVER,
    }
    scheme = urlsplit(url).scheme.lower()
    try:
        if scheme == "redis+sentinel":
            return _connect_sentinel(url, options)
        if scheme == "redis+cluster":
            return _connect_cluster(url, options), []
        client: Redis = Redis.from_url(url, **options)
    except (TypeError, ValueError) as problem:
        raise ConfigError(f"{shown(url)} is not the address of a Redis: {problem}") from problem
    return client, []


def _connect_sentinel(url: str, options: dict[str, Any]) -> tuple[Redis, list[Redis]]:
    """redis+sentinel://[USER:PASSWORD@]HOST[:PORT][,HOST[:PORT]…]/MASTER[/DB]"""
    parts = urlsplit(url)
    names = [part for part in parts.path.split("/") if part]
    if not names:
        raise ConfigError(
            f"{shown(url)} does not name the master; "
            "write redis+sentinel://HOST:PORT,HOST:PORT/MASTER/DB"
        )
    credentials, _, hosts = parts.netloc.rpartition("@")
    sentinels = [_host_and_port(host, 26379) for host in hosts.split(",")]
    own = _credentials(credentials) | dict(parse_qsl(parts.query))
    timeouts = {name: options[name] for name in ("socket_timeout", "socket_connect_timeout")}
    sentinel: Any = Sentinel(  # type: ignore[no-untyped-call]
        sentinels, sentinel_kwargs=timeouts | {"retry": options["retry"]}
    )
    db = int(names[1]) if len(names) > 1 else 0
    return sentinel.master_for(names[0], db=db, **own, **options), sentinel.sentinels


def _connect_cluster(url: str, options: dict[str, Any]) -> RedisCluster:
    """redis+cluster://[USER:PASSWORD@]HOST[:PORT]"""
    parts = urlsplit(url)
    credentials, _, host = parts.netloc.rpartition("@")
    name, port = _host_and_port(host, 6379)
    own = _credentials(credentials) | dict(parse_qsl(parts.query))
    greet = options.pop("redis_connect_func")
    client = RedisCluster(host=name, port=port, **own, **options)
    # It has no parameter for that, but passes these on to all connections that it makes.
    for node in client.nodes_manager.startup_nodes.values():
        node.connection_kwargs["redis_connect_func"] = greet
    client.nodes_manager.connection_kwargs["redis_connect_func"] = greet
    return client


def _host_and_port(text: str, default_port: int) -> tuple[str, int]:
    parts = urlsplit(f"//{text}")
    if not parts.hostname:
        raise ConfigError(f"{text!r} is not a host")
    return parts.hostname, parts.port or default_port


def _credentials(text: str) -> dict[str, Any]:
    user, _, password = text.partition(":")
    named = {"username": unquote(user), "password": unquote(password)}
    return {name: value for name, value in named.items() if value}
