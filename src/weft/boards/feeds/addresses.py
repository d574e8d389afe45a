"""URLs as feeds and sitemaps write them."""

from typing import Any

import can_ada

from weft.urls import NO_URL

#: Longer URLs are none: browsers and servers do not take them, either.
MAX_URL = 4_000
_SCHEMES = ("http:", "https:")


def absolute(base: str, href: str) -> str:
    """The absolute URL without fragment; empty for what is no page.

    Without `base`, only what is absolute already is a URL.
    """
    if not href or href.isspace() or len(href) > MAX_URL:
        return ""
    try:
        url = _join(base, href.strip())
    except NO_URL:
        return ""
    if url.protocol not in _SCHEMES:
        return ""
    if "#" in href:
        url.hash = ""
    return str(url.href)


def _join(base: str, href: str) -> Any:
    # Most are absolute. Then the base, which may be none, is not needed.
    if not base or href.startswith(("https://", "http://")):
        return can_ada.parse(href)
    return can_ada.parse(base) + href
