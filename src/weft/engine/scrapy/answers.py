"""Repairs invalid answers so that Scrapy's middlewares can handle them.

A redirect to something that is not a URL, and an unknown charset, raise exceptions inside Scrapy. A
browser shows such pages. Here the redirect loses its target, so that its page fails with its
status, and the charset is ignored, as if the page did not declare one.
"""

from functools import lru_cache

import can_ada
from scrapy import Request
from scrapy.http import Response, TextResponse
from w3lib.url import safe_url_string

from weft.urls import NO_URL

REDIRECTS = frozenset((301, 302, 303, 307, 308))
_ALL_BYTES = bytes(range(256))


def drop_bad_location(response: Response, url: str) -> str:
    """Remove the target of a redirect if it is not a web page. Returns why, or an empty string."""
    location = response.headers.get("Location")
    if response.status not in REDIRECTS or location is None or _is_web_page(location, url):
        return ""
    del response.headers["Location"]
    return f"redirects to what is no web page: {location[:200]!r}"


def _is_web_page(location: bytes, base: str) -> bool:
    try:
        target = can_ada.parse(base) + safe_url_string(location)
    except NO_URL:
        return False
    return target.protocol in ("http:", "https:")


class CharsetMiddleware:
    """Runs after a page is unpacked and before it is first read."""

    def process_response(self, request: Request, response: Response) -> Response:
        if isinstance(response, TextResponse):
            declared = response._declared_encoding()
            if declared is not None and not _is_charset(declared):
                return response.replace(encoding=_guess(response.body))
        return response


@lru_cache(maxsize=256)
def _is_charset(name: str) -> bool:
    """Whether it can decode text; `base64`, for example, is the name of a codec, too."""
    try:
        _ALL_BYTES.decode(name, "replace")
    except Exception:  # codecs may raise anything
        return False
    return True


def _guess(body: bytes) -> str:
    try:
        body.decode()
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"
