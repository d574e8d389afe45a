"""Runs a master: listens, answers, and ends cleanly."""

import ipaddress
import os
import signal
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn

from weft.cluster.audit import AuditLog
from weft.cluster.tokens import Tokens, TokenScope
from weft.control.app import make_app
from weft.control.master import Master
from weft.errors import ConfigError
from weft.frontier import Store
from weft.redis.client import SHORT_PATIENCE_S, Client
from weft.services.tokens import make_token

#: The token that is made if there is none.
FIRST_TOKEN = "first"
#: How long requests that are under way may take when the master ends.
GRACE_S = 15


async def run_master(store: Store, bind: str, tell: Callable[[str, str | None], None]) -> None:
    """Return when it is told to end. `tell` gets the address, and the text of the first token if it
    was made."""
    async with Client(store.url, patience_s=SHORT_PATIENCE_S) as client:
        master = Master(store, Tokens(client), AuditLog(client))
        with listen(bind) as listener:
            text = await _make_first_token(master, bind, listener)
            server = _AnnouncedServer(_config_of(master), lambda: tell(_url_of(listener), text))
            await _serve(server, listener)


def listen(bind: str) -> socket.socket:
    """Raises ConfigError for what is no address, or is taken."""
    host, port = _parse(bind)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
        return _listen_on(*found[0])
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(
            f"--bind {bind}: this cannot be listened on ({reason}); name an address of this "
            "machine and a port that is free, such as 127.0.0.1:8900"
        ) from error


def _listen_on(
    family: int, kind: int, protocol: int, _: str, address: tuple[object, ...]
) -> socket.socket:
    # With its protocol, unlike from `socket.create_server`: only then asyncio does not let answers
    # wait for those before them, 40 ms each (TCP_NODELAY).
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # another system lets several programs have the port by that
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()
    except BaseException:
        listener.close()
        raise
    return listener


def _parse(bind: str) -> tuple[str, int]:
    host, _, port = bind.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or int(port) > 65_535:
        raise ConfigError(f"--bind {bind}: write HOST:PORT, such as 127.0.0.1:8900 or [::1]:8900")
    return host.removeprefix("[").removesuffix("]"), int(port)


async def _make_first_token(master: Master, bind: str, listener: socket.socket) -> str | None:
    """Who has no token cannot do anything; who listens to the network must have chosen one."""
    if await master.tokens.all():
        return None
    if not ipaddress.ip_address(listener.getsockname()[0].partition("%")[0]).is_loopback:
        raise ConfigError(
            f"--bind {bind}: others can reach this address, and nobody has a token yet; create one "
            f"first: weft token create NAME --scope admin --store {master.store.place}"
        )
    return await make_token(master.tokens, FIRST_TOKEN, TokenScope.ADMIN)


def _config_of(master: Master) -> uvicorn.Config:
    return uvicorn.Config(
        make_app(master),
        log_config=None,  # as the rest of Weft
        access_log=False,  # addresses may be secret
        lifespan="off",
        ws="none",
        proxy_headers=False,  # anybody can write them
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
    )


class _AnnouncedServer(uvicorn.Server):
    """Tells when it answers."""

    def __init__(self, config: uvicorn.Config, tell: Callable[[], None]) -> None:
        super().__init__(config)
        self._tell = tell

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._tell()


async def _serve(server: uvicorn.Server, listener: socket.socket) -> None:
    # Afterwards uvicorn sends us the signals once more that have ended it: that is not wanted.
    before = {number: signal.signal(number, _ignore) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        await server.serve([listener])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _ignore(number: int, frame: FrameType | None) -> None:
    pass


def _url_of(listener: socket.socket) -> str:
    host, port, *_ = listener.getsockname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
