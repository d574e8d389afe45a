"""Answers that are not what they claim; junk site maps and feeds; statuses of all kinds."""

from collections.abc import Callable

from weft.testing.hostile.answers import HTML, HostileAnswer, Pages, html, made, whole

_PAGE = html("Lie", "<a href='/lies/l'>x</a>")
_PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 40
_STATUSES = (400, 401, 403, 404, 405, 406, 407, 408, 410, 413, 414, 418, 421, 425, 431, 451)
_FAILURES = (500, 501, 502, 504, 505, 507, 508, 510, 511, 520, 521, 522, 525, 530, 599)

_TYPES: dict[str, tuple[bytes | str, str]] = {
    "page-as-image": (_PAGE, "image/png"),
    "page-as-text": (_PAGE, "text/plain"),
    "page-as-json": (_PAGE, "application/json"),
    "page-as-xml": (_PAGE, "application/xml"),
    "page-as-script": (_PAGE, "application/javascript"),
    "page-as-binary": (_PAGE, "application/octet-stream"),
    "page-as-junk": (_PAGE, "junk"),
    "page-as-nothing": (_PAGE, ""),
    "page-as-multipart": (_PAGE, "multipart/x-mixed-replace; boundary=x"),
    "page-as-message": (_PAGE, "message/http"),
    "image-as-page": (_PNG, HTML),
    "image-as-xml": (_PNG, "text/xml"),
    "zip-as-page": (b"PK\x03\x04" + bytes(range(256)) * 40, HTML),
    "pdf-as-page": (b"%PDF-1.7\n" + bytes(range(256)) * 40, HTML),
    "program-as-page": (b"\x7fELF" + bytes(range(256)) * 40, HTML),
    "json-as-page": (b'{"a": "<a href=/lies/l>x</a>"}', HTML),
    "empty-json": (b"", "application/json"),
    "not-json": (b"{{{{", "application/json"),
}


def _deep_json() -> bytes:
    return b"[" * 500_000


def _sitemap() -> bytes:
    urls = b"".join(b"<url><loc>http://[::1/%d</loc></url>" % number for number in range(20_000))
    return b"<urlset>" + urls


def _feed() -> bytes:
    return b"<rss><channel>" + b"<item><link>javascript:x</link>" * 10_000


_LARGE: dict[str, tuple[Callable[[], bytes], str]] = {
    "deep-json": (_deep_json, "application/json"),
    "sitemap": (_sitemap, "application/xml"),
    "feed": (_feed, "application/rss+xml"),
    "deep-xml": (lambda: b"<x>" * 200_000, "text/xml"),
    "text-noise": (lambda: bytes(range(256)) * 4_000, "text/plain"),
}


def _named(disposition: str) -> HostileAnswer:
    return whole(_PAGE, "application/octet-stream", f"Content-Disposition: {disposition}")


def pages() -> Pages:
    found: dict[str, HostileAnswer] = {name: whole(*args) for name, args in _TYPES.items()}
    found |= {name: made(*args) for name, args in _LARGE.items()}
    found |= {f"status/{code}": whole(_PAGE, HTML, status=f"{code} No") for code in _STATUSES}
    found |= {f"failure/{code}": whole(_PAGE, HTML, status=f"{code} No") for code in _FAILURES}
    return found | {
        "named-junk": _named("attachment; filename*=utf-8''%ff%zz"),
        "named-up": _named('attachment; filename="../../../x.html"'),
        "named-nothing": _named(";;;=;;"),
        "named-long": _named("attachment; filename=" + "x" * 50_000 + ".html"),
        "range": whole(_PAGE, HTML, "Accept-Ranges: junk", "Content-Range: bytes */-1"),
        "dates": whole(_PAGE, HTML, "Date: junk", "Last-Modified: 99999", "Expires: -1", "Age: x"),
        "tag": whole(_PAGE, HTML, "ETag: " + '"' * 10_000),
        "cache": whole(_PAGE, HTML, "Cache-Control: max-age=" + "9" * 5_000),
        "link": whole(_PAGE, HTML, "Link: " + "<>;rel=" * 5_000),
        "language": whole(_PAGE, HTML, "Content-Language: " + "x-" * 5_000),
        "l": whole(html("Linked")),
    }
