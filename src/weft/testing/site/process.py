"""The serving process: one event loop, one listening socket per host, one log.

A process started by a `SiteServer` ends with it: its standard input is a pipe held by the parent,
which closes when the parent dies for any reason. A process forked by the parent may hold the pipe
too, so it also checks who its parent is.
"""

import asyncio
import errno
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from weft.errors import ConfigError
from weft.testing.site.hits import Hit, HitLog
from weft.testing.site.holdups import Holdups
from weft.testing.site.options import Site
from weft.testing.site.responder import Responder
from weft.testing.site.wire import (
    BadRequest,
    Request,
    SiteAnswer,
    take_request,
    text_answer,
    with_close,
)

#: The server's own paths, not logged: write the log to its file; clear log and memory.
FLUSH_PATH = "/_weft/flush"
FORGET_PATH = "/_weft/forget"

LOG_NAME = "hits.log"
BACKLOG = 1024
PORT_ATTEMPTS = 50
PARENT_CHECK_S = 0.5


#: A host and a port.
Address = tuple[str, int]


class AnsweringService(Protocol):
    """What all connections share: it knows what is answered."""

    def answer(self, asked: Address, client: str, request: Request) -> SiteAnswer:
        """`asked`: where the request arrived."""


class SiteService:
    """Answers for a `Site`."""

    def __init__(self, site: Site, port: int, log: HitLog | None) -> None:
        self._latency_s = {host: site.latency_of(host) for host in site.hosts}
        self._responder = Responder(site, port)
        self._log = log
        self._holdups = Holdups(asyncio.get_running_loop())

    def answer(self, asked: Address, client: str, request: Request) -> SiteAnswer:
        host, _ = asked
        if request.path in (FLUSH_PATH, FORGET_PATH):
            return self._control(request.path)
        answer = self._responder.answer(host, request)
        if self._log:
            self._log.add(
                Hit(
                    time.monotonic(),
                    host,
                    request.method,
                    request.target,
                    answer.status,
                    client,
                    self._holdups.held_up_s(),
                )
            )
        latency_s = self._latency_s[host]
        return answer._replace(delay_s=answer.delay_s + latency_s) if latency_s else answer

    def _control(self, path: str) -> SiteAnswer:
        if path == FORGET_PATH:
            self._responder.forget()
        if self._log:
            (self._log.clear if path == FORGET_PATH else self._log.flush)()
        return text_answer(200, "done\n")


class SiteConnection(asyncio.Protocol):
    """Answers the requests of one connection in order, each after the latency of its host."""

    # Set by asyncio before any data arrives.
    _transport: asyncio.Transport
    _asked: Address
    _client: str

    def __init__(self, service: AnsweringService) -> None:
        self._service = service
        self._buffer = b""
        self._is_waiting = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # asyncio has already switched Nagle's algorithm off (TCP_NODELAY).
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._asked = transport.get_extra_info("sockname")[:2]
        # None if the client is already gone.
        self._client = (transport.get_extra_info("peername") or ("",))[0]

    def data_received(self, data: bytes) -> None:
        self._buffer = self._buffer + data if self._buffer else data
        if not self._is_waiting:
            self._answer_all()

    def _answer_all(self) -> None:
        while self._buffer and not self._is_waiting and not self._transport.is_closing():
            try:
                request, self._buffer = take_request(self._buffer)
            except BadRequest as problem:
                self._send(with_close(text_answer(problem.status, "Bad request\n")), is_last=True)
                return
            if request is None:
                return
            self._answer(request)

    def _answer(self, request: Request) -> None:
        answer = self._service.answer(self._asked, self._client, request)
        is_last = answer.is_broken or request.is_last
        if is_last and not answer.is_broken:
            answer = with_close(answer)
        if not answer.delay_s:
            self._send(answer, is_last)
            return
        self._is_waiting = True
        asyncio.get_running_loop().call_later(answer.delay_s, self._send_late, answer, is_last)

    def _send_late(self, answer: SiteAnswer, is_last: bool) -> None:
        self._is_waiting = False
        self._send(answer, is_last)
        self._answer_all()

    def _send(self, answer: SiteAnswer, is_last: bool) -> None:
        if self._transport.is_closing():
            return
        self._transport.write(answer.data)
        if is_last:
            self._transport.close()


def listen(hosts: tuple[str, ...], port: int) -> list[socket.socket]:
    """Bind a socket on each host, all on one port: `port`, or any that is free on all of them.

    A host that is named again gets the next port each time.
    """
    for _ in range(1 if port else PORT_ATTEMPTS):
        sockets: list[socket.socket] = []
        try:
            for place, host in enumerate(hosts):
                first = sockets[0].getsockname()[1] if sockets else port
                sockets.append(_bound(host, first + hosts[:place].count(host)))
        except (OSError, OverflowError) as problem:  # there are no ports above the last
            for bound in sockets:
                bound.close()
            if isinstance(problem, OSError) and problem.errno != errno.EADDRINUSE:
                raise ConfigError(f"cannot listen on {hosts}: {problem.strerror}") from problem
        else:
            return sockets
    raise ConfigError(f"port {port or '(any)'} is in use on one of {hosts}: choose another")


def _bound(host: str, port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        bound.listen(BACKLOG)
    except OSError:
        bound.close()
        raise
    return bound


#: Makes the protocol for connections, given the port and the log.
MakeConnection = Callable[[int, HitLog | None], Callable[[], asyncio.Protocol]]


def connections_of(site: Site) -> MakeConnection:
    return lambda port, log: partial(SiteConnection, SiteService(site, port, log))


async def serve(
    make: MakeConnection, sockets: list[socket.socket], log: HitLog | None, stop: asyncio.Event
) -> None:
    """Serve until `stop` or SIGTERM."""
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    connection = make(sockets[0].getsockname()[1], log)
    servers = [await loop.create_server(connection, sock=each) for each in sockets]
    await stop.wait()
    for server in servers:
        server.close()


def run_by_hand(make: MakeConnection, hosts: tuple[str, ...], port: int) -> None:
    """Serve until Ctrl-C."""
    sockets = listen(hosts, port)
    for each in sockets:
        host, bound_port = each.getsockname()
        print(f"http://{host}:{bound_port}/", flush=True)
    asyncio.run(_serve_by_hand(make, sockets))


async def _serve_by_hand(make: MakeConnection, sockets: list[socket.socket]) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stop.set)
    await serve(make, sockets, None, stop)


def run_as_child(
    make: MakeConnection, hosts: tuple[str, ...], port: int, parent_pid: int, *, has_log: bool
) -> None:
    """Serve until the parent ends. Prints to standard output where, or why not."""
    # Ctrl-C goes to the whole process group; our parent decides when we end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        sockets = listen(hosts, port)
    except ConfigError as problem:
        print(json.dumps({"problem": str(problem)}), flush=True)
        return
    with TemporaryDirectory(prefix="weft-site-") as directory:
        log = HitLog(Path(directory, LOG_NAME))
        ready = {"port": sockets[0].getsockname()[1], "directory": directory}
        say_ready = partial(print, json.dumps(ready), flush=True)
        asyncio.run(_serve_as_child(make, sockets, log if has_log else None, parent_pid, say_ready))
        log.close()


async def _serve_as_child(
    make: MakeConnection,
    sockets: list[socket.socket],
    log: HitLog | None,
    parent_pid: int,
    say_ready: Callable[[], None],
) -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    # The parent never writes, so the only thing to read is the end of the pipe.
    loop.add_reader(sys.stdin.fileno(), stop.set)
    _watch_parent(loop, parent_pid, stop)
    say_ready()
    await serve(make, sockets, log, stop)


def _watch_parent(loop: asyncio.AbstractEventLoop, parent_pid: int, stop: asyncio.Event) -> None:
    if os.getppid() != parent_pid:
        stop.set()
    loop.call_later(PARENT_CHECK_S, _watch_parent, loop, parent_pid, stop)
