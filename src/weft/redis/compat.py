"""The names of redis-py that Weft uses though they are private or not documented."""

from functools import cache

import redis

from weft.compat import Library, PrivateNames

#: The version that Weft is tested with; as in constraints.txt.
TESTED = "redis[hiredis]==8.1.0"

#: The names, and where they are used.
USED: PrivateNames = {
    # `client` greets each server by them, and notes the error that ends a connection.
    "redis.asyncio.connection:AbstractConnection": (
        "_reader",
        "on_connect",
        "read_response",
        "send_command",
    ),
    # `address` passes the greeting on to the connections of a cluster.
    "redis.asyncio.cluster:NodesManager": ("connection_kwargs", "startup_nodes"),
    "redis.asyncio.cluster:ClusterNode": ("connection_kwargs",),
}


@cache
def check_redis() -> None:
    """Raises EngineError if this redis-py does not have what is needed."""
    Library("redis-py", redis.__version__, TESTED).check(USED)
