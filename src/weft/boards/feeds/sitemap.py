"""Reads sitemaps: indexes, lists of pages with the extension for news, and plain texts."""

import re
from itertools import islice

from weft.boards.feeds.addresses import absolute
from weft.boards.feeds.entries import plain_title
from weft.boards.feeds.found import Sitemap, SitemapPage
from weft.boards.feeds.kinds import SITEMAP_ROOTS, find_root, is_list_of_urls
from weft.boards.feeds.moments import read_moment
from weft.boards.feeds.records import RecordLayout, XmlRecord
from weft.boards.feeds.text import SITEMAP_LIMITS, file_text
from weft.boards.feeds.xmlfile import XmlFile
from weft.errors import PageError

#: By the protocol a sitemap names no more.
MAX_PAGES = 50_000
#: Of a text, more lines are ignored.
MAX_LINES = 2 * MAX_PAGES

_LINE = re.compile(r"[^\s\ufeff][^\r\n]*+")
_NEWS_TITLE = "news:news/news:title"
_NEWS_DATE = "news:news/news:publication_date"
_LAYOUT = RecordLayout(
    frozenset(("url", "sitemap")), frozenset(("loc", "lastmod", _NEWS_TITLE, _NEWS_DATE))
)


def read_sitemap(body: bytes, url: str) -> Sitemap:
    """What a sitemap names; it may be packed.

    Raises PageError for what is no sitemap, is too large or cannot be read.
    """
    text = file_text(body, SITEMAP_LIMITS)
    root = find_root(text)
    if root and root.name in SITEMAP_ROOTS:
        return _of_records(XmlFile(text, root.start, _LAYOUT, url), url)
    if root is None and is_list_of_urls(text):
        return _of_lines(text)
    raise PageError("not read: no sitemap")


def _of_records(file: XmlFile, url: str) -> Sitemap:
    pages: dict[str, SitemapPage] = {}
    sitemaps: dict[str, None] = {}
    for record in file:
        found = next(filter(None, (absolute(loc.base, loc.text) for loc in record.all("loc"))), "")
        if record.name == "sitemap":
            sitemaps[found] = None
        elif found and found not in pages:
            pages[found] = _page(found, record)
        if len(pages) + len(sitemaps) >= MAX_PAGES:
            break
    # An index that names itself names nothing.
    return Sitemap(tuple(pages.values()), tuple(each for each in sitemaps if each not in ("", url)))


def _page(url: str, record: XmlRecord) -> SitemapPage:
    modified = read_moment(record.text("lastmod"))
    if not any(record.all(_NEWS_TITLE, _NEWS_DATE)):
        return SitemapPage(url, modified)
    return SitemapPage(
        url,
        modified,
        is_news=True,
        title=plain_title(record.text(_NEWS_TITLE)),
        published=read_moment(record.text(_NEWS_DATE)),
    )


def _of_lines(text: str) -> Sitemap:
    pages: dict[str, SitemapPage] = {}
    for line in islice(_LINE.finditer(text), MAX_LINES):
        if url := absolute("", line[0]):
            pages.setdefault(url, SitemapPage(url))
        if len(pages) == MAX_PAGES:
            break
    return Sitemap(tuple(pages.values()))
