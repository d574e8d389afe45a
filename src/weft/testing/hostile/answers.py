"""What a hostile page sends: bytes as they are on the wire, and what is done after them."""

from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Literal, NamedTuple

#: `keep`: the connection serves the next request; `close`: it ends; `reset`: it ends with an error
#: for the client; `hang`: nothing more comes until the client goes away.
Then = Literal["keep", "close", "reset", "hang"]

HTML = "text/html; charset=utf-8"


class Answer(NamedTuple):
    """Made anew for each request, so that nothing large stays in memory."""

    pieces: Callable[[], Iterable[bytes]]
    then: Then = "keep"
    #: Time between two pieces.
    pause_s: float = 0.0


Pages = Mapping[str, Answer]


def raw(*pieces: bytes, then: Then = "close", pause_s: float = 0.0) -> Answer:
    """These bytes, which need not be HTTP."""
    return Answer(lambda: pieces, then, pause_s)


def stream(
    pieces: Callable[[], Iterable[bytes]], then: Then = "close", pause_s: float = 0.0
) -> Answer:
    """Bytes that are made while they are sent; they may never end."""
    return Answer(pieces, then, pause_s)


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
) -> Answer:
    """A proper answer, whatever its body is."""
    data = body.encode() if isinstance(body, str) else body
    return Answer(lambda: (head(content_type, *lines, status=status, length=len(data)), data))


def made(make: Callable[[], bytes], content_type: str = HTML, *lines: str) -> Answer:
    """The same for a large body, which is made when it is asked for."""

    def pieces() -> Iterable[bytes]:
        data = make()
        return head(content_type, *lines, length=len(data)), data

    return Answer(pieces)


def html(title: str, content: str = "") -> str:
    return f"<!DOCTYPE html>\n<title>{escape(title)}</title>\n<body>\n{content}\n</body>\n"


def links(*hrefs: str) -> str:
    return "\n".join(f'<a href="{escape(href)}">link</a>' for href in hrefs)
