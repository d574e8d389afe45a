"""Converts a request to the same bytes that Scrapy's own handler sends.

The result is None if it would not be HTTP, or could be understood in two ways. Scrapy's handler
then decides what becomes of the request.
"""

import re
from functools import lru_cache

from scrapy import Request
from scrapy.utils.httpobj import urlparse_cached
from twisted.web.http_headers import Headers as TwistedHeaders

from weft.engine.http.origin import Origin

#: Header names to cache.
MAX_NAMES = 10_000

_METHOD = re.compile(r"[A-Za-z]+")
_TARGET = re.compile(r"[\x21-\x7e]+")
#: Headers that say where a request ends: only we know that.
_FRAMING = frozenset((b"Content-Length", b"Transfer-Encoding"))
#: Methods that get a Content-Length even without a body.
_WITH_BODY = frozenset(("POST", "PUT"))


def request_bytes(request: Request, origin: Origin) -> bytes | None:
    target = _target(request)
    if not _METHOD.fullmatch(request.method) or not _TARGET.fullmatch(target):
        return None
    lines = [f"{request.method} {target} HTTP/1.1".encode()]
    if request.body or request.method in _WITH_BODY:
        lines.append(b"Content-Length: %d" % len(request.body))
    if not _add_headers(request, lines, origin):
        return None
    lines += (b"", request.body)
    return b"\r\n".join(lines)


def _target(request: Request) -> str:
    parts = urlparse_cached(request)
    target = parts.path
    if not target.startswith("/"):
        target = f"/{target}"
    if parts.params:
        target = f"{target};{parts.params}"
    return f"{target}?{parts.query}" if parts.query else target


def _add_headers(request: Request, lines: list[bytes], origin: Origin) -> bool:
    has_host = False
    # Not with Headers.items(), which looks up each of them again.
    for name, values in dict.items(request.headers):
        if name in _FRAMING or (name == b"Host" and len(values) != 1):
            return False
        has_host = has_host or name == b"Host"
        shown = _wire_name(name)
        if shown is None:
            return False
        lines += [b"%b: %b" % (shown, _one_line(value)) for value in values]
    if not has_host:
        lines.append(b"Host: %b" % origin.netloc)
    return True


@lru_cache(MAX_NAMES)
def _wire_name(name: bytes) -> bytes | None:
    """The name as Twisted writes it: ETag and DNT, where Scrapy writes Etag and Dnt."""
    try:
        headers = TwistedHeaders({name: [b""]})
    except ValueError:
        return None
    return next(headers.getAllRawHeaders())[0]


def _one_line(value: bytes) -> bytes:
    """Join lines, so that nothing in a value can become another header or another request."""
    if b"\n" in value or b"\r" in value:
        return b" ".join(value.splitlines())
    return value
