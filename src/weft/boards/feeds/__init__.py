"""Feeds and sitemaps: files in which a site lists its pages for machines.

A file is unpacked, decoded and cut before its root (`text`), and is one of the kinds that `kinds`
knows by their first bytes. XML becomes a stream of records, the items of a feed or the pages of a
sitemap: read by lxml as long as it is well-formed, and else by a reader that takes whatever looks
like a tag (`records`, `loose`). A file that says too much is cut or refused, so that none costs
more than a few seconds. What precedes the root, such as a DTD with its entities, is never read.
"""

from weft.boards.feeds.feed import read_feed
from weft.boards.feeds.found import Feed, FeedEntry, Sitemap, SitemapPage
from weft.boards.feeds.kinds import looks_like_feed, looks_like_sitemap
from weft.boards.feeds.robots import robots_sitemaps
from weft.boards.feeds.sitemap import read_sitemap

__all__ = [
    "Feed",
    "FeedEntry",
    "Sitemap",
    "SitemapPage",
    "looks_like_feed",
    "looks_like_sitemap",
    "read_feed",
    "read_sitemap",
    "robots_sitemaps",
]
