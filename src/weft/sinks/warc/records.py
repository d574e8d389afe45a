"""Pages as WARC/1.1 records, each a gzip member of its own: bytes in, bytes out.

A record contains what was sent and received. If it was changed on the way (a body that was
decompressed, a length that does not match the body), the headers that would be wrong for the body
get the prefix `X-Crawler-`, as in other crawlers.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from io import BytesIO
from urllib.parse import urlsplit

from warcio.warcwriter import WARCWriter

from weft.sinks.archive import Headers, RawPage
from weft.urls import without_password

VERSION = "1.1"
PREFIX = b"X-Crawler-"
_GZIP = b"\x1f\x8b"
#: For the server only, not for readers of the archive.
_SECRET = frozenset((b"authorization", b"proxy-authorization"))


def info_record(filename: str, info: Mapping[str, str]) -> bytes:
    """Return the first record of a file."""
    out = BytesIO()
    writer = WARCWriter(out, warc_version=VERSION)
    writer.write_record(writer.create_warcinfo_record(filename, info))
    return out.getvalue()


def page_records(page: RawPage) -> bytes:
    """Return the response and its request."""
    out = BytesIO()
    writer = WARCWriter(out, warc_version=VERSION)
    common = {"WARC-Date": warc_date(page.fetched_at_ms)}
    if page.ip:
        common["WARC-IP-Address"] = page.ip
    truncated = {"WARC-Truncated": page.truncated} if page.truncated else {}
    url = without_password(page.url)
    response, request = (
        writer.create_warc_record(
            *(url, kind),
            payload=BytesIO(body),
            length=len(body),
            http_headers=_Head(head),
            warc_headers_dict=fields,
        )
        for kind, head, body, fields in (
            ("response", response_head(page), page.body, common | truncated),
            ("request", request_head(page), page.request_body, common),
        )
    )
    writer.write_request_response_pair(request, response)
    return out.getvalue()


class _Head:
    """A head that warcio writes unchanged; it would alter one of its own that is not ASCII."""

    def __init__(self, head: bytes) -> None:
        self.headers_buff = head

    def compute_headers_buffer(self, header_filter: object = None) -> None: ...


def warc_date(at_ms: int) -> str:
    at = datetime.fromtimestamp(at_ms / 1000, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def response_head(page: RawPage) -> bytes:
    # Scrapy does not keep the reason phrase. It may be empty, but its space is required.
    protocol = page.protocol if page.protocol.startswith("HTTP/") else "HTTP/2"
    return _head(f"{protocol} {page.status} ", true_headers(page))


def true_headers(page: RawPage) -> Iterator[tuple[bytes, bytes]]:
    """Rename the headers that are wrong for the body as it is stored."""
    for name, value in page.headers:
        yield (name if _is_true(page, name.lower(), value) else PREFIX + name), value


def _is_true(page: RawPage, name: bytes, value: bytes) -> bool:
    if name == b"transfer-encoding":
        return False
    if not page.body:  # the answer to HEAD, or 304: they describe another body
        return True
    if name == b"content-length":
        return value.strip() == b"%d" % len(page.body)
    if name == b"content-encoding" and value.strip().lower() in (b"gzip", b"x-gzip"):
        return page.body.startswith(_GZIP)
    return True


def request_head(page: RawPage) -> bytes:
    url = urlsplit(page.url)
    target = (url.path or "/") + (f"?{url.query}" if url.query else "")
    return _head(f"{page.method} {target} HTTP/1.1", _request_headers(page, url.netloc))


def _request_headers(page: RawPage, netloc: str) -> Headers:
    sent = tuple(pair for pair in page.request_headers if pair[0].lower() not in _SECRET)
    names = {name.lower() for name, _ in sent}
    length = b"%d" % len(page.request_body)
    added = (
        (b"Host", netloc.rpartition("@")[2].encode()),
        *([(b"Content-Length", length)] if page.request_body else []),
    )
    return (*(pair for pair in added if pair[0].lower() not in names), *sent)


def _head(first_line: str, headers: Iterator[tuple[bytes, bytes]] | Headers) -> bytes:
    lines = [
        first_line.encode(),
        *(b"%b: %b" % (name, _one_line(value)) for name, value in headers),
    ]
    return b"\r\n".join((*lines, b"", b""))


def _one_line(value: bytes) -> bytes:
    return b" ".join(value.splitlines()) if b"\n" in value or b"\r" in value else value
