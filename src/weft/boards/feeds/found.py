"""What feeds and sitemaps say."""

import msgspec


class FeedEntry(msgspec.Struct, frozen=True):
    #: Absolute, without fragment.
    url: str
    #: Plain text; empty if there is none.
    title: str = ""
    #: ISO: a day, with time and zone if the feed gives them. If a feed says only when an entry was
    #: changed, that.
    published: str = ""


class Feed(msgspec.Struct, frozen=True):
    """Entries in the order of the feed, each URL once."""

    entries: tuple[FeedEntry, ...] = ()
    #: How long the feed says that it stays the same; 0: it does not say.
    ttl_s: int = 0
    #: The URL of the page with older entries; empty if there is none.
    next: str = ""


class SitemapPage(msgspec.Struct, frozen=True):
    #: Absolute, without fragment.
    url: str
    #: ISO, as the dates of feeds.
    modified: str = ""
    #: Whether it is an article of a news sitemap; only those have a title and a date.
    is_news: bool = False
    title: str = ""
    published: str = ""


class Sitemap(msgspec.Struct, frozen=True):
    """Pages and further sitemaps in their order, each URL once."""

    pages: tuple[SitemapPage, ...] = ()
    #: The sitemaps that an index names.
    sitemaps: tuple[str, ...] = ()
