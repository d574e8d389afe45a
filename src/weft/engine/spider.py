"""`weft crawl URL`: a spider that walks a whole site and tells what pages it has.

One lexbor parse of a page serves its links and its fields. The links go to the frontier as one
batch, never as Scrapy requests.
"""

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

import can_ada
from scrapy import Request, Spider
from scrapy.http import Response, TextResponse
from scrapy.linkextractors import IGNORED_EXTENSIONS
from selectolax.lexbor import LexborHTMLParser

from weft.engine.scheduler import scheduler_of
from weft.urls import NO_URL, host_key

_IGNORED = tuple(f".{extension}" for extension in IGNORED_EXTENSIONS)
#: Longer links are traps or mistakes.
MAX_URL_LENGTH = 2083


class SiteSpider(Spider):
    """Follows the links of the sites that its start URLs are on."""

    name = "site"

    def __init__(self, urls: list[str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = urls
        self._sites = {site_of(host_key(url)) for url in urls}

    async def start(self) -> AsyncIterator[Any]:
        for url in self.start_urls:
            yield Request(url)

    def parse(self, response: Response, **kwargs: Any) -> Iterator[dict[str, Any]]:
        depth = response.meta.get("depth", 0)
        page = {
            "url": response.url,
            "title": "",
            "status": response.status,
            "depth": depth,
            "text_length": 0,
        }
        if isinstance(response, TextResponse):
            tree = LexborHTMLParser(response.text)
            links = self._links(tree, response)
            scheduler_of(self.crawler).put_links(response, links, depth + 1)
            page["title"] = title_of(tree)
            page["text_length"] = text_length_of(tree)
        yield page

    def _links(self, tree: LexborHTMLParser, response: Response) -> Iterable[str]:
        """The links of a page that lead to pages of the same site, in order."""
        base = base_of(tree, response.url)
        if base is None:
            return []
        links: dict[str, None] = {}
        for node in tree.css("a[href], area[href]"):
            url = resolve(base, node.attributes.get("href") or "")
            if url is not None and site_of(url.hostname) in self._sites and is_page(url):
                url.hash = ""
                links[str(url.href)] = None
        return links


def site_of(host: str) -> str:
    """Hosts with and without www are one site."""
    return host.removeprefix("www.")


def base_of(tree: LexborHTMLParser, url: str) -> can_ada.URL | None:
    """What the links of a page are relative to; None: its own address is beyond us."""
    try:
        base = can_ada.parse(url)
    except NO_URL:
        return None
    node = tree.css_first("base[href]")
    href = node.attributes.get("href") if node else None
    return (resolve(base, href) if href else None) or base


def resolve(base: can_ada.URL, href: str) -> can_ada.URL | None:
    """An absolute URL for a link; None for what is no link."""
    try:
        return base + href.strip()
    except NO_URL:
        return None


def is_page(url: can_ada.URL) -> bool:
    """Whether a link is worth fetching: a web page by its looks."""
    return (
        url.protocol in ("http:", "https:")
        and len(url.href) <= MAX_URL_LENGTH
        and not url.pathname.lower().endswith(_IGNORED)
    )


def title_of(tree: LexborHTMLParser) -> str:
    node = tree.css_first("title")
    return " ".join(node.text().split()) if node else ""


def text_length_of(tree: LexborHTMLParser) -> int:
    """Characters of text that a reader sees, white space folded."""
    body = tree.body
    if body is None:
        return 0
    for node in body.css("script, style, noscript, template"):
        node.decompose()
    return len(" ".join(body.text(separator=" ").split()))
