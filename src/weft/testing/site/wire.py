"""HTTP/1.1 as bytes: extracts requests from what a connection received, and builds answers.

It does only what a test site needs, but fast: headers are looked up in the text when requested,
never parsed as a whole.
"""

from http import HTTPStatus
from typing import NamedTuple

#: Maximum length of a request head: URLs of 100 KB must get through.
MAX_HEAD_BYTES = 256 * 1024
MAX_BODY_BYTES = 16 * 1024 * 1024

_REASONS = {status.value: status.phrase for status in HTTPStatus}


class BadRequest(Exception):
    """An invalid request; it is answered with `status`, and the connection is closed."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class SiteAnswer(NamedTuple):
    """The whole answer, as it is on the wire."""

    status: int
    data: bytes
    #: How long to wait before sending it.
    delay_s: float = 0.0
    #: The connection is closed afterwards, and `data` need not be HTTP.
    is_broken: bool = False


class Request:
    """One request. `target` is from the request line, `path` is that without the query."""

    __slots__ = ("_lower", "body", "head", "method", "path", "query", "target", "version")

    def __init__(self, head: str) -> None:
        words = head.partition("\r\n")[0].split(" ")
        if len(words) != 3:
            raise BadRequest(400)
        self.method, self.target, self.version = words
        self.path, _, self.query = _origin_form(self.target).partition("?")
        self.head = head
        self.body = b""
        self._lower = head.lower()

    def header(self, name: str) -> str:
        """The value of the first header of this (lower-case) name, or an empty string."""
        start = self._lower.find(f"\r\n{name}:")
        if start < 0:
            return ""
        start += len(name) + 3
        end = self.head.find("\r\n", start)
        return self.head[start : end if end >= 0 else None].strip()

    def headers(self) -> dict[str, str]:
        lines = (line.partition(":") for line in self.head.split("\r\n")[1:])
        return {name: value.strip() for name, _, value in lines}

    @property
    def is_last(self) -> bool:
        """Whether the client wants the connection closed after the answer."""
        return self.version != "HTTP/1.1" or "close" in self.header("connection").lower()

    @property
    def accepts_gzip(self) -> bool:
        return "gzip" in self.header("accept-encoding")

    @property
    def body_bytes(self) -> int:
        """The length of the body, from its header."""
        if self.header("transfer-encoding"):
            raise BadRequest(411)
        length = self.header("content-length") or "0"
        if not length.isdecimal():
            raise BadRequest(400)
        if len(length) > 9 or int(length) > MAX_BODY_BYTES:
            raise BadRequest(413)
        return int(length)


def _origin_form(target: str) -> str:
    """Proxies get requests for full URLs, and so may we."""
    if not target.startswith("http://"):
        return target
    return "/" + target.removeprefix("http://").partition("/")[2]


def take_request(buffer: bytes) -> tuple[Request | None, bytes]:
    """Return the first request in `buffer`, if it is complete, and what follows it."""
    end = buffer.find(b"\r\n\r\n")
    if max(end, len(buffer) if end < 0 else 0) > MAX_HEAD_BYTES:
        raise BadRequest(431)
    if end < 0:
        return None, buffer
    request = Request(buffer[:end].decode("latin-1"))
    start, stop = end + 4, end + 4 + request.body_bytes
    if len(buffer) < stop:
        return None, buffer
    request.body = buffer[start:stop]
    return request, buffer[stop:]


def answer(
    status: int, body: bytes, content_type: str, headers: str = "", delay_s: float = 0.0
) -> SiteAnswer:
    """`headers` are whole lines, including line ends."""
    head = (
        f"HTTP/1.1 {status} {_REASONS.get(status, 'Unknown')}\r\nServer: weft-site\r\n"
        f"Content-Type: {content_type}\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
    )
    return SiteAnswer(status, head.encode("latin-1") + body, delay_s)


def text_answer(status: int, text: str, headers: str = "", delay_s: float = 0.0) -> SiteAnswer:
    return answer(status, text.encode(), "text/plain; charset=utf-8", headers, delay_s)


def html_answer(text: str, status: int = 200, headers: str = "") -> SiteAnswer:
    return answer(status, text.encode(), "text/html; charset=utf-8", headers)


def redirect(location: str, headers: str = "") -> SiteAnswer:
    return text_answer(302, f"See {location}\n", f"Location: {location}\r\n{headers}")


def without_body(whole: SiteAnswer) -> SiteAnswer:
    """The answer to HEAD."""
    return whole._replace(data=whole.data[: whole.data.index(b"\r\n\r\n") + 4])


def with_close(whole: SiteAnswer) -> SiteAnswer:
    """The same answer, with a header that says it is the last on its connection."""
    return whole._replace(data=whole.data.replace(b"\r\n", b"\r\nConnection: close\r\n", 1))
