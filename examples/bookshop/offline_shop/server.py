"""Hands the pages out: HTTP/1.1 with connections that stay, and nothing else that costs time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from offline_shop.catalogue import Catalogue
from offline_shop.pages import page_at

HOST = "127.0.0.1"
END_OF_HEAD = b"\r\n\r\n"
#: No crawler sends as much.
MAX_HEAD_BYTES = 65_536


@asynccontextmanager
async def serve_shop(books: int, port: int = 0) -> AsyncIterator[str]:
    """Its address, while the context is open. Port 0: any that is free."""
    catalogue = Catalogue(books)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(catalogue), HOST, port)
    try:
        yield f"http://{HOST}:{server.sockets[0].getsockname()[1]}/"
    finally:
        server.close()


class _Connection(asyncio.Protocol):
    _transport: asyncio.Transport

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        *heads, self._received = (self._received + data).split(END_OF_HEAD)
        for head in heads:
            self._transport.write(answer(head, self._catalogue))
        if len(self._received) > MAX_HEAD_BYTES:
            self._transport.close()


def answer(head: bytes, catalogue: Catalogue) -> bytes:
    """The whole answer to a request, of which only the path counts."""
    words = head.split(None, 2)
    path = words[1].decode(errors="replace") if len(words) > 1 else ""
    page = page_at(path, catalogue)
    status = "200 OK" if page else "404 Not Found"
    body = (page or "There is no such page.").encode()
    fields = f"Content-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}"
    return f"HTTP/1.1 {status}\r\n{fields}".encode() + END_OF_HEAD + body
