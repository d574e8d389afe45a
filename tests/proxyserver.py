"""A proxy that passes requests on, makes tunnels for CONNECT, and keeps what it was asked."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit

from rawserver import read_head, shut


class ProxyServer:
    def __init__(self) -> None:
        #: The heads of all requests that were made to the proxy itself.
        self.heads: list[bytes] = []
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._start(self._accept)
        return self

    def __exit__(self, *problem: object) -> None:
        shut(self._listener)
        self._threads[0].join()  # nobody else comes in
        for sock in self._sockets:
            shut(sock)
        for thread in self._threads[:]:
            thread.join()

    def url(self, user: str = "") -> str:
        """`user` may be a name and a password."""
        return f"http://{user}{'@' if user else ''}127.0.0.1:{self.port}"

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):  # closed at the end
            while True:
                sock, _ = self._listener.accept()
                self._sockets.append(sock)
                self._start(self._serve, sock)

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError), client:
            while head := read_head(client):
                self.heads.append(head)
                method, target = head.decode("latin-1").split(" ")[:2]
                if method == "CONNECT":
                    self._tunnel(client, target)
                    return
                self._pass_on(client, head, target)

    def _tunnel(self, client: socket.socket, target: str) -> None:
        host, _, port = target.rpartition(":")
        with socket.create_connection((host, int(port))) as server:
            self._sockets.append(server)
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            self._start(_pump, server, client)
            _pump(client, server)

    def _pass_on(self, client: socket.socket, head: bytes, target: str) -> None:
        """One request without a body, whose answer ends with its connection."""
        parts = urlsplit(target)
        path = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
        line, _, rest = head.partition(b"\r\n")
        line = line.replace(target.encode("latin-1"), path.encode("latin-1"))
        with socket.create_connection((parts.hostname or "", parts.port or 80)) as server:
            self._sockets.append(server)
            server.sendall(line + b"\r\n" + rest)
            _pump(server, client)


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
