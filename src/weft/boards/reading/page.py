"""A page, parsed once, and what several rules look at: its metadata and its links."""

import json
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from html import unescape
from itertools import islice
from typing import Any, TypeVar

import can_ada
import msgspec
from selectolax.lexbor import LexborHTMLParser, LexborNode

from weft.boards.reading.blocks import Blocks
from weft.boards.reading.charset import decode
from weft.errors import PageError
from weft.markup import DEFAULT_LIMITS, PageLimits, find_excess, parse_page
from weft.urls import NO_URL

#: Comments and CDATA marks that surround the JSON of old pages.
_WRAPPING = re.compile(r"^\s*(?:<!--|//<!\[CDATA\[|<!\[CDATA\[)|(?:-->|//\]\]>|\]\]>)\s*$")
_SCHEMES = ("http:", "https:")
#: JSON-LD nested deeper is not searched.
MAX_NESTING = 6
#: More objects of JSON-LD are not searched.
MAX_OBJECTS = 500
#: Longer texts of tags, links and headings are cut: the rules that read them may be slow.
MAX_TEXT = 2_000

Found = TypeVar("Found")


# A list has hundreds: so they are made quickly, and nobody looks for cycles among them.
class PageLink(msgspec.Struct, frozen=True, eq=False, gc=False):
    #: Absolute, without fragment.
    url: str
    #: What a reader sees: the text, or else a label, the text of an image, a title.
    text: str
    node: LexborNode
    attributes: Mapping[str, str | None]


class Page:
    """One page: its text, its tree, and what is found in them when somebody asks."""

    def __init__(
        self, text: str, url: str = "", encoding: str = "utf-8", utf8: bytes | None = None
    ) -> None:
        """`utf8`: the text in UTF-8, if somebody has it."""
        self.text = text
        #: Empty if nobody knows it.
        self.url = url
        self.encoding = encoding
        self.tree: LexborHTMLParser = parse_page(utf8 or _encoded(text))
        self._found: dict[Callable[[Page], Any], Any] = {}

    def once(self, find: Callable[["Page"], Found]) -> Found:
        """What `find` finds in this page; it looks only once."""
        if find not in self._found:
            self._found[find] = find(self)
        found: Found = self._found[find]
        return found

    @cached_property
    def metas(self) -> Mapping[str, list[str]]:
        """The contents of meta tags by name, property or itemprop, in lower case."""
        found: dict[str, list[str]] = {}
        for node in self.tree.css("meta[content]"):
            attributes = node.attributes
            content = clean(attributes.get("content") or "")
            for key in ("name", "property", "itemprop"):
                name = attributes.get(key)
                if name and content:
                    found.setdefault(name.strip().lower(), []).append(content)
        return found

    def meta(self, *names: str) -> str:
        """The content of the first of these meta tags that has one."""
        return next((self.metas[name][0] for name in names if name in self.metas), "")

    @cached_property
    def json_ld(self) -> list[dict[str, Any]]:
        """All objects with a type in the page's JSON-LD, outer ones first."""
        found: list[dict[str, Any]] = []
        for node in self.tree.css('script[type="application/ld+json" i]'):
            text = _WRAPPING.sub("", node.text(deep=True))
            try:
                objects = _typed(_read_json(text))
            except (ValueError, RecursionError):
                continue
            found += islice(objects, MAX_OBJECTS - len(found))
        return found

    @cached_property
    def base_url(self) -> str:
        """What relative links are relative to."""
        node = self.tree.css_first("base[href]")
        href = node.attributes.get("href") if node else None
        return _join(_parsed(self.url), href or "") or self.url

    @cached_property
    def _base(self) -> Any:
        return _parsed(self.base_url)

    def absolute(self, href: str) -> str | None:
        """The absolute URL of a link, without fragment; None for what is no page."""
        return _join(self._base, href)

    @cached_property
    def links(self) -> list[PageLink]:
        """The links to pages, in their order; the same URL may come several times."""
        found = []
        urls: dict[str, str | None] = {"": None}
        for node in self.tree.css("a[href]"):
            attributes = node.attributes
            href = attributes["href"] or ""
            if href not in urls:
                urls[href] = self.absolute(href)
            if url := urls[href]:
                found.append(PageLink(url, _label(node, attributes), node, attributes))
        return found


def blocks_of(page: Page) -> Blocks:
    return page.once(_blocks)


def _blocks(page: Page) -> Blocks:
    return Blocks(page.tree)


def find_own_site_name(page: Page) -> str:
    """As the page itself gives it; empty if it does not."""
    return page.meta("og:site_name", "application-name", "apple-mobile-web-app-title")


def find_title_tag(page: Page) -> str:
    """What the title tag says; empty without one."""
    node = page.tree.css_first("title")
    return clean(node.text(deep=True)) if node else ""


def find_headings(page: Page) -> list[str]:
    """The texts of the h1 elements."""
    return [text for node in page.tree.css("h1") if (text := clean(node.text(deep=True)))]


def find_own_addresses(page: Page) -> list[str]:
    """What the page calls its own address, as it writes it, the most reliable first."""
    nodes = page.tree.css('link[rel~="canonical" i][href]')
    hrefs = [node.attributes.get("href") or "" for node in nodes]
    return [*hrefs, *page.metas.get("og:url", ())]


def open_page(
    page: bytes,
    url: str = "",
    charset: str | None = None,
    limits: PageLimits = DEFAULT_LIMITS,
) -> Page:
    """Decode and parse a page.

    `charset`: what the HTTP header says. Without `url` it is what the page calls its own address,
    so that the links of saved pages lead somewhere. Raises PageError if the page exceeds a limit.
    """
    text, encoding = decode(page, charset)
    is_utf8 = encoding == "utf-8"
    is_whole = is_utf8 and "\ufffd" not in text and not page.startswith(BOM_UTF8)
    utf8 = page if is_whole else _encoded(text)
    if excess := find_excess(page if is_utf8 else utf8, limits):
        raise PageError(excess.plain_reason, excess.limit)
    opened = Page(text, url, encoding, utf8)
    opened.url = url or _own_url(opened)
    return opened


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def clean(text: str) -> str:
    """Without entities that were escaped twice, with single spaces, and not too long."""
    text = text[:MAX_TEXT]
    if "&" in text:
        text = unescape(text)
    return " ".join(text.split())


def _own_url(page: Page) -> str:
    """The first absolute address that the page gives as its own; empty if it gives none."""
    return next((url for href in find_own_addresses(page) if (url := _join(None, href))), "")


def _read_json(text: str) -> Any:
    """Pages also put line breaks into texts, which only Python's own reader forgives."""
    try:
        return msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return json.loads(text, strict=False)


def _typed(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    if depth > MAX_NESTING:
        return
    if isinstance(value, list):
        for entry in value:
            yield from _typed(entry, depth + 1)
    elif isinstance(value, dict):
        if "@type" in value:
            yield value
        for entry in value.values():
            if isinstance(entry, dict | list):
                yield from _typed(entry, depth + 1)


def _parsed(url: str) -> Any:
    try:
        return can_ada.parse(url)
    except NO_URL:
        return None


def _join(base: Any, href: str) -> str | None:
    try:
        url = base + href.strip() if base else can_ada.parse(href.strip())
    except NO_URL:
        return None
    if "#" in href:
        url.hash = ""
    joined = str(url.href)
    return joined if joined.startswith(_SCHEMES) else None


def _label(node: LexborNode, attributes: Mapping[str, str | None]) -> str:
    text = clean(_visible_text(node))
    if text:
        return text
    for name in ("aria-label", "title"):
        if label := clean(attributes.get(name) or ""):
            return label
    image = node.css_first("img[alt]")
    return clean(image.attributes.get("alt") or "") if image else ""


def _visible_text(node: LexborNode) -> str:
    """Without the styles and scripts that some pages put into their links."""
    text: str = node.text(deep=True)
    if "{" in text:
        for code in node.css("style, script"):
            text = text.replace(code.text(deep=True), " ", 1)
    return text
