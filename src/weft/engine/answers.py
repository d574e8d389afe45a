"""Answers that make no sense, put so that Scrapy's middlewares can bear them.

A redirect to what is no URL, and a charset that is none, raise exceptions inside Scrapy. A browser
shows such pages; here the first is a redirect that leads nowhere, so that its page fails with its
status, and the second is a page that does not say how it is encoded.
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
    """Forget where a redirect of this URL leads, if that is no web page; why, or empty."""
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
    """Between what unpacks a page and what first reads it."""

    def process_response(self, request: Request, response: Response) -> Response:
        if isinstance(response, TextResponse):
            declared = response._declared_encoding()
            if declared is not None and not _is_charset(declared):
                return response.replace(encoding=_guess(response.body))
        return response


@lru_cache(maxsize=256)
def _is_charset(name: str) -> bool:
    """Whether text can be read with it; `base64`, for one, is the name of a codec too."""
    try:
        _ALL_BYTES.decode(name, "replace")
    except Exception:  # codecs raise what they like
        return False
    return True


def _guess(body: bytes) -> str:
    try:
        body.decode()
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"
