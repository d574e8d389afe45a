"""What a hostile page sends: bytes as they are on the wire, and what happens afterwards."""

from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Literal, NamedTuple

#: `keep`: the connection serves the next request; `close`: it ends; `reset`: it ends with an error
#: for the client; `hang`: nothing more is sent until the client disconnects.
Then = Literal["keep", "close", "reset", "hang"]

HTML = "text/html; charset=utf-8"


class HostileAnswer(NamedTuple):
    """Made again for each request, so that nothing large stays in memory."""

    pieces: Callable[[], Iterable[bytes]]
    then: Then = "keep"
    #: Time between two pieces.
    pause_s: float = 0.0


Pages = Mapping[str, HostileAnswer]


def raw(*pieces: bytes, then: Then = "close", pause_s: float = 0.0) -> HostileAnswer:
    """These bytes, which need not be HTTP."""
    return HostileAnswer(lambda: pieces, then, pause_s)


def stream(
    pieces: Callable[[], Iterable[bytes]], then: Then = "close", pause_s: float = 0.0
) -> HostileAnswer:
    """Bytes that are generated while they are sent; they may never end."""
    return HostileAnswer(pieces, then, pause_s)


def head(
    content_type: str = HTML, *lines: str, status: str = "200 OK", length: int | None = None
) -> bytes:
    """The head of an answer; `lines` are headers."""
    all_lines = [f"HTTP/1.1 {status}"]
    if content_type:
        all_lines.append(f"Content-Type: {content_type}")
    if length is not None:
        all_lines.append(f"Content-Length: {length}")
    return "\r\n".join([*all_lines, *lines, "", ""]).encode("latin-1")


def whole(
    body: bytes | str, content_type: str = HTML, *lines: str, status: str = "200 OK"
) -> HostileAnswer:
    """A valid answer, whatever its body is."""
    data = body.encode() if isinstance(body, str) else body
    return HostileAnswer(
        lambda: (head(content_type, *lines, status=status, length=len(data)), data)
    )


def made(make: Callable[[], bytes], content_type: str = HTML, *lines: str) -> HostileAnswer:
    """The same for a large body, generated when it is requested."""

    def pieces() -> Iterable[bytes]:
        data = make()
        return head(content_type, *lines, length=len(data)), data

    return HostileAnswer(pieces)


def html(title: str, content: str = "") -> str:
    return f"<!DOCTYPE html>\n<title>{escape(title)}</title>\n<body>\n{content}\n</body>\n"


def links(*hrefs: str) -> str:
    return "\n".join(f'<a href="{escape(href)}">link</a>' for href in hrefs)
