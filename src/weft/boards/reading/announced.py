"""What a page announces about itself in its head: its own address and its feeds."""

from typing import NamedTuple

from weft.boards.reading.page import Page, find_own_addresses

#: Types of the links that announce a feed.
_FEEDS = frozenset(
    ("application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml")
)


class Announced(NamedTuple):
    #: Empty if the page gives none.
    canonical_url: str
    feeds: tuple[str, ...]


def find_announced(page: Page) -> Announced:
    """The canonical URL and the URLs of the feeds, all of them absolute."""
    feeds: dict[str, None] = {}
    for node in page.tree.css('link[rel~="alternate" i][href]'):
        attributes = node.attributes
        if _is_feed(attributes.get("type")):
            feeds[_absolute(page, attributes.get("href"))] = None
    feeds.pop("", None)
    canonical = next(
        (url for href in find_own_addresses(page) if (url := _absolute(page, href))), ""
    )
    return Announced(canonical, tuple(feeds))


def _absolute(page: Page, href: str | None) -> str:
    """An empty address would be that of the page itself."""
    return (page.absolute(href) or "") if href and href.strip() else ""


def _is_feed(kind: str | None) -> bool:
    return (kind or "").split(";")[0].strip().lower() in _FEEDS
