"""`weft crawl URL`: a spider that walks a whole site and yields an item for each page.

Each page is parsed once, with lexbor, for its links and its fields. The links go to the frontier as
one batch, never as Scrapy requests. Most of them were met by this process lately; of those only the
href is read.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Container, Iterator
from itertools import islice
from typing import Any

import can_ada
from scrapy import Request, Spider
from scrapy.http import Response, TextResponse
from scrapy.linkextractors import IGNORED_EXTENSIONS
from selectolax.lexbor import LexborHTMLParser

from weft.engine.requests.follow import FollowAll
from weft.engine.requests.recent import RecentNumbers
from weft.engine.scrapy.scheduler import crawl_of
from weft.markup import find_excess, parse_page
from weft.urls import NO_URL, host_key

_IGNORED = tuple(f".{extension}" for extension in IGNORED_EXTENSIONS)
#: Longer pages are not read in one go.
LONG_BYTES = 262_144
#: How many new links of such a page are passed on at a time.
MANY_LINKS = 2_000
#: Longer links are traps or mistakes.
MAX_URL_LENGTH = 2083
# In an href: a scheme, a query of the page itself, characters that URL parsers drop or convert.
_ODD = re.compile(r"^\?|[:\\\t\n\r]")
# Bytes that do not count as characters: white space, and all bytes of a character but the first.
_UNSEEN = b" \t\n\f\r" + bytes(range(0x80, 0xC0))


class SiteSpider(Spider):
    """Follows the links of the sites that its start URLs are on."""

    name = "site"
    #: Pages that no parser can handle are refused here.
    checks_pages = True

    def __init__(self, urls: list[str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = urls
        self._sites = {site_of(host_key(url)) for url in urls}

    async def start(self) -> AsyncIterator[Any]:
        for url in self.start_urls:
            yield Request(url)

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Any] | AsyncIterator[Any]:
        depth = response.meta.get("depth", 0)
        page = {
            "url": response.url,
            "title": "",
            "status": response.status,
            "depth": depth,
            "text_length": 0,
        }
        if not isinstance(response, TextResponse):
            return iter((page,))
        crawl = crawl_of(self.crawler)
        text = response.text.encode(errors="replace")
        if excess := find_excess(text, crawl.config.page_limits):
            crawl.counts[f"pages/refused/{excess.limit}"] += 1
            crawl.observer.note_refused(response, excess.reason)
            return iter(())
        tree = parse_page(text)  # not shared: it is changed below
        base = base_of(tree, response.url)
        known = crawl.requests.adder.known_hrefs(depth + 1)
        links = new_links(tree, base, self._sites, known) if base is not None else iter(())
        if len(text) > LONG_BYTES:
            return _read_in_turns(tree, links, page)
        batch = FollowAll([*links])
        _describe(tree, page)
        return iter((batch, page))


async def _read_in_turns(
    tree: LexborHTMLParser, links: Iterator[str], page: dict[str, Any]
) -> AsyncIterator[Any]:
    """Let other pages run now and then: this one may have any number of links."""
    while batch := [*islice(links, MANY_LINKS)]:
        yield FollowAll(batch)
        await asyncio.sleep(0)
    _describe(tree, page)
    yield page


def _describe(tree: LexborHTMLParser, page: dict[str, Any]) -> None:
    page["title"] = title_of(tree)
    page["text_length"] = text_length_of(tree)


def new_links(
    tree: LexborHTMLParser, base: can_ada.URL, sites: Container[str], known: RecentNumbers
) -> Iterator[str]:
    """The links of a page to pages of these sites, in order, without those that are known."""
    hrefs = Hrefs(base)
    for node in tree.css("a[href], area[href]"):
        # Links in SVG are found, too, and have another attribute.
        href, mark, _ = (node.attrs.get("href") or "").strip().partition("#")
        if (href or mark) and known.add(hash(hrefs.key(href))):
            url = resolve(base, href)
            if url is not None and site_of(url.hostname) in sites and is_page(url):
                url.hash = ""
                yield str(url.href)


class Hrefs:
    """Turns the hrefs of a page, without fragments, into texts that mean the same on every page.

    A plain href becomes the URL that it leads to, except for what a URL parser would normalize: so
    a link is known however it is written. Other hrefs are combined with their page.
    """

    def __init__(self, base: can_ada.URL) -> None:
        directory = base.pathname.rpartition("/")[0]
        self._page = base.href.partition("#")[0]
        self._protocol = base.protocol
        self._origin = f"{base.protocol}//{base.host}"
        self._directory = f"{self._origin}{directory}/"
        self._parent = f"{self._origin}{directory.rpartition('/')[0]}/"

    def key(self, href: str) -> str:
        if not href:
            return self._page
        if href.startswith(("http://", "https://")):
            return href
        if _ODD.search(href):
            return f"{self._page}\0{href}"
        if href.startswith("//"):
            return self._protocol + href
        if href.startswith("/"):
            return self._origin + href
        if href.startswith("../"):
            return self._parent + href[3:]
        return self._directory + href


def site_of(host: str) -> str:
    """Hosts with and without www are one site."""
    return host.removeprefix("www.")


def base_of(tree: LexborHTMLParser, url: str) -> can_ada.URL | None:
    """What the links of a page are relative to; None if its own URL cannot be parsed."""
    try:
        base = can_ada.parse(url)
    except NO_URL:
        return None
    node = tree.css_first("base[href]")
    href = (node.attributes.get("href") or "").strip() if node else ""
    return (resolve(base, href) if href else None) or base


def resolve(base: can_ada.URL, href: str) -> can_ada.URL | None:
    """The absolute URL of a link; None if it is not a link."""
    try:
        return base + href
    except NO_URL:
        return None


def is_page(url: can_ada.URL) -> bool:
    """Whether a link is worth fetching: it looks like a web page."""
    return (
        url.protocol in ("http:", "https:")
        and len(url.href) <= MAX_URL_LENGTH
        and not url.pathname.lower().endswith(_IGNORED)
    )


def title_of(tree: LexborHTMLParser) -> str:
    node = tree.css_first("title")
    return " ".join(node.text().split()) if node else ""


def text_length_of(tree: LexborHTMLParser) -> int:
    """The number of characters that a reader sees, without white space. Changes the tree."""
    body = tree.body
    if body is None:
        return 0
    for node in body.css("script, style, noscript, template"):
        node.decompose()
    return len(body.text().encode(errors="replace").translate(None, _UNSEEN))
