"""Finds the pictures of an article."""

import re
from collections.abc import Iterator
from typing import Any

from selectolax.lexbor import LexborNode

from weft.boards.reading.article.linked import find_article
from weft.boards.reading.page import MAX_NESTING, Page

#: Where the pictures of an article are, the most exact place first.
_PLACES = ("article img", "main img", "p img, figure img")
#: Parts of a page whose pictures belong to something else.
_ASIDE = frozenset(("aside", "nav", "footer"))
_PICTURE = re.compile(r"\.(?:jpe?g|png|gif|webp|avif)\b", re.IGNORECASE)
#: Attributes with the address of a picture that is loaded later.
_ADDRESSES = ("data-src", "data-original", "data-lazy-src", "data-url", "src")
#: Pictures that belong to the site.
_DECORATION = re.compile(
    r"logo|icon|avatar|sprite|pixel|blank|spacer|placeholder|button|banner-?ad|emoji|gravatar|1x1|\.svg"
    r"|^data:",
    re.IGNORECASE,
)
#: Smaller ones are no pictures of an article.
MIN_SIDE = 200
#: How many elements are looked at, and how many pictures are given.
MAX_ELEMENTS = 40
MAX_PICTURES = 10


def find_images(page: Page) -> tuple[str, ...]:
    """Absolute URLs, the main picture first."""
    found: dict[str, None] = {}
    for address in _addresses(page):
        url = page.absolute(address) if address.strip() else None
        if url:
            found.setdefault(url)
        if len(found) == MAX_PICTURES:
            break
    return tuple(found)


def _addresses(page: Page) -> Iterator[str]:
    for name in (
        "og:image",
        "og:image:url",
        "og:image:secure_url",
        "twitter:image",
        "twitter:image:src",
    ):
        yield from page.metas.get(name, ())
    article = find_article(page)
    yield from _linked(article.get("image"))
    yield from _linked(article.get("thumbnailUrl"))
    yield from _shown(page)


def _linked(value: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth < MAX_NESTING:
        for entry in value:
            yield from _linked(entry, depth + 1)
    elif isinstance(value, dict) and depth < MAX_NESTING:
        yield from _linked(value.get("url") or value.get("contentUrl"), depth + 1)


def _shown(page: Page) -> Iterator[str]:
    """The pictures at the first place that has some."""
    for place in _PLACES:
        nodes = page.tree.css(place)[:MAX_ELEMENTS]
        addresses = [
            address for node in nodes if (address := _address(node)) and is_own(page, node)
        ]
        yield from addresses
        if addresses:
            return


def is_own(page: Page, node: LexborNode) -> bool:
    """Whether a picture is no part of an aside, and no link to another page."""
    above = node.parent
    while above is not None and above.tag != "body":
        if above.tag in _ASIDE or (above.tag == "a" and _leads_away(page, above)):
            return False
        above = above.parent
    return True


def _leads_away(page: Page, link: LexborNode) -> bool:
    """Whether a link leads to another page: neither to a larger picture nor to this one."""
    url = page.absolute(link.attributes.get("href") or "")
    return url is not None and not _PICTURE.search(url) and url != page.absolute(page.url)


def _address(node: LexborNode) -> str:
    """The address of a picture that is not known to be small; empty for others."""
    attributes = node.attributes
    if any(_side(attributes.get(name)) < MIN_SIDE for name in ("width", "height")):
        return ""
    address = next((value for name in _ADDRESSES if (value := attributes.get(name))), "")
    return "" if _DECORATION.search(address) else address


def _side(value: str | None) -> int:
    digits = (value or "").removesuffix("px")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 6 else MIN_SIDE
