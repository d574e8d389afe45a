"""A server that plays scripts on raw sockets: whatever a real one may send, and worse.

The script of a request is chosen by the first part of its path. What was received is kept as it
came.
"""

import re
import socket
import ssl
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, Self
from urllib.parse import urlsplit

from weft.engine.politeness.stops import shut_socket

#: `hang` reads on until the client has gone; so does `deaf`, but not before `may_read`.
Then = Literal["keep", "close", "reset", "hang", "deaf"]


@dataclass(frozen=True)
class Script:
    """Pieces that are sent one after the other, and what is done then."""

    pieces: Sequence[bytes]
    then: Then = "keep"
    #: Before the body of the request is read.
    is_early: bool = False
    #: What is played from the second request on, if it is not the same.
    later: "Script | None" = None


@dataclass
class Visit:
    """One connection: where it came from, and what came on it."""

    client: str
    requests: list[bytes] = field(default_factory=list)
    is_closed: threading.Event = field(default_factory=threading.Event)


class RawServer:
    def __init__(
        self, scripts: Mapping[str, Script], tls: ssl.SSLContext | None = None, host: str = ""
    ) -> None:
        self.visits: list[Visit] = []
        self.may_read = threading.Event()
        #: Of all connections, in their order.
        self.requests: list[bytes] = []
        self._scripts = scripts
        self._played: set[str] = set()
        self._tls = tls
        self._host = host or "127.0.0.1"
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        self._listener = socket.create_server((self._host, 0), family=family)
        self.port: int = self._listener.getsockname()[1]
        self._start(self._accept)
        return self

    def __exit__(self, *problem: object) -> None:
        self.may_read.set()
        shut(self._listener)
        self._threads[0].join()  # nobody else comes in
        for sock in self._sockets:
            shut(sock)
        for thread in self._threads:
            thread.join()

    @property
    def url(self) -> str:
        scheme = "https" if self._tls else "http"
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{scheme}://{host}:{self.port}/"

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):  # closed at the end
            while True:
                sock, address = self._listener.accept()
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._sockets.append(sock)
                visit = Visit(address[0])
                self.visits.append(visit)
                self._start(self._serve, sock, visit)

    def _serve(self, sock: socket.socket, visit: Visit) -> None:
        with suppress(OSError):
            if self._tls is not None:
                sock = self._tls.wrap_socket(sock, server_side=True)
                self._sockets.append(sock)
            with sock:
                self._answer(sock, visit)
        visit.is_closed.set()

    def _answer(self, sock: socket.socket, visit: Visit) -> None:
        while request := read_head(sock):
            name = _script_name(request)
            script = self._scripts[name]
            if name in self._played:
                script = script.later or script
            self._played.add(name)
            if not script.is_early:
                request = _read_body(sock, request)
            visit.requests.append(request)
            self.requests.append(request)
            if not self._play(sock, script):
                break

    def _play(self, sock: socket.socket, script: Script) -> bool:
        for piece in script.pieces:
            sock.sendall(piece)
        if script.then == "keep":
            return True
        if script.then == "deaf":
            self.may_read.wait()
        if script.then in ("hang", "deaf"):
            while sock.recv(65536):
                continue
        if script.then == "reset":
            shut_socket(sock)
        return False


def shut(sock: socket.socket) -> None:
    with suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)
    sock.close()


def read_head(sock: socket.socket) -> bytes:
    """Empty: there is none any more."""
    received = b""
    while b"\r\n\r\n" not in received:
        data = sock.recv(65536)
        if not data:
            return b""
        received += data
    return received


def _read_body(sock: socket.socket, received: bytes) -> bytes:
    while len(received) < _expected_bytes(received):
        received += sock.recv(65536)
    return received


def _expected_bytes(received: bytes) -> int:
    head, _, _ = received.partition(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return len(head) + 4 + int(line.partition(b":")[2])
    return len(head) + 4


def _script_name(request: bytes) -> str:
    target = request.split(b" ")[1].decode("ascii")
    path = urlsplit(target).path if target.startswith("http") else target
    return re.split("[/?;]", path[1:])[0]
