"""What the links of a page are: one lexbor parse of it, and the URLs that its hrefs mean.

Scrapy makes a URL of an href in three steps: it joins it with the base of the page, makes the
result safe (`w3lib.url.safe_url_string`), and joins that with the address of the page. That costs
ten microseconds or more, and for a plain href it comes to the same as writing the href behind a
prefix. So `Resolver` finds out by Scrapy's own functions what the prefixes of a page are, writes
plain hrefs behind them, and gives every other href to those functions.
"""

import re
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote, urljoin
from weakref import WeakKeyDictionary

from scrapy.http import Response, TextResponse
from scrapy.linkextractors.lxmlhtml import logger
from scrapy.utils.response import get_base_url
from selectolax.lexbor import LexborHTMLParser
from w3lib.html import HTML5_WHITESPACE
from w3lib.url import safe_url_string

from weft.engine.markup import find_excess, parse_page

_trees: WeakKeyDictionary[TextResponse, LexborHTMLParser | None] = WeakKeyDictionary()


def tree_of(response: TextResponse) -> LexborHTMLParser | None:
    """The page as lexbor reads it: parsed once, and shared by all who ask. Do not change it.

    None: it would take too much time or memory. The text is trimmed and freed of NUL characters, as
    it is for Scrapy's selectors.
    """
    if response not in _trees:
        page = response.text.strip().replace("\0", "").encode(errors="replace")
        _trees[response] = None if find_excess(page) else parse_page(page)
    return _trees[response]


def forget_tree(response: Response) -> None:
    """Its callback is done: a response may live until Python next looks for cycles."""
    if isinstance(response, TextResponse):
        _trees.pop(response, None)


# Characters that Scrapy leaves alone, and those outside ASCII, which it only quotes. What has a
# meaning of its own in some place (`;` and `\`, `'` in a query, `:` in a first segment) is not
# among them; neither are empty segments and those of one or two dots.
_FOREIGN = "\u00a0-\ud7ff\ue000-\U0010ffff"
_WORD = rf"\w\-.~!$&()*+,=@%{_FOREIGN}"
_SEGMENT = rf"(?!\.\.?(?:[/?#]|\Z))[{_WORD}']++"
_PATH = rf"{_SEGMENT}(?:/{_SEGMENT})*+/?"
_PORT = r"[1-9]\d{0,3}|[1-5]\d{4}"
_HOST = rf"https?://[a-z0-9]+(?:[.-][a-z0-9]+)*(?::(?:{_PORT}))?"
_UP = r"\.\./"
_ABSOLUTE = rf"{_HOST}/[{_WORD}'/:]*+"
_REST = rf"(?:\?[{_WORD}/?:]++)?(?:#[{_WORD}'/?:]++)?"
_PLAIN = re.compile(
    rf"(?:(?P<rooted>/(?:{_PATH})?)|(?P<relative>{_PATH})|(?P<absolute>{_ABSOLUTE})"
    rf"|(?P<parent>{_UP}(?:{_PATH})?)|(?P<query>(?=\?))|(?P<fragment>(?=#))){_REST}",
    re.ASCII,
)
_PLAIN_URL = re.compile(_ABSOLUTE + _REST, re.ASCII)
#: What `_PLAIN` lets through and Scrapy leaves alone.
_SAFE = "/?#:!$&'()*+,=@%"
_NO_PAGE = re.compile(r"(?!(?:https?|ftp|file):)[a-z][a-z0-9+.-]*:", re.ASCII | re.IGNORECASE)
_BASE = re.compile(r"(https?://[^/?#]+)((?:/[^/?#]*)*/)?")
_PROBES = {"rooted": "/x", "relative": "x", "parent": "../x", "query": "?x", "fragment": "#x"}


class Place(NamedTuple):
    """All that decides what the hrefs mean that begin as `PLACED` says."""

    root: str
    scheme: str
    encoding: str


class Origin(NamedTuple):
    """All that decides what an href means."""

    base: str
    page: str
    encoding: str

    @property
    def place(self) -> Place:
        base = _BASE.match(self.base)
        if base is None:
            return Place(*self)
        return Place(base[1], self.page.partition(":")[0], self.encoding)


#: How hrefs begin that mean the same on all pages of a place.
PLACED = ("/", "http://", "https://")


class Resolver:
    """Makes URLs of the hrefs of one page, letter for letter as Scrapy does."""

    def __init__(self, origin: Origin, strip: bool = True) -> None:
        self._origin = origin
        self._strip = strip
        self._prefixes = _Prefixes(origin)
        self.place = origin.place

    def url(self, href: str) -> str | None:
        """The URL that an href means; None: it leads to no page."""
        trimmed = self._trimmed(href)
        if match := _PLAIN.fullmatch(trimmed):
            kind = match.lastgroup or ""
            prefix = self._prefixes[kind]
            text = trimmed if trimmed.isascii() else self._quoted(trimmed, match.end(kind))
            if prefix is not None and text is not None:
                return prefix + text.removeprefix("../")
        elif _NO_PAGE.match(trimmed):
            return None
        joined = self.joined(href)
        return None if joined is None else self.settled(joined)

    def joined(self, href: str) -> str | None:
        """An href as Scrapy shows it to `process_value`: absolute, but as it was written."""
        try:
            return urljoin(self._origin.base, self._trimmed(href))
        except ValueError:
            return None

    def settled(self, value: str) -> str | None:
        """The URL that Scrapy makes of what `process_value` returned."""
        if self._is_plain_url(value):
            return value
        try:
            url = safe_url_string(value, encoding=self._origin.encoding)
        except ValueError:
            logger.debug(f"Skipping extraction of link with bad URL {value!r}")
            return None
        return urljoin(self._origin.page, url)

    def _is_plain_url(self, value: str) -> bool:
        is_sure = isinstance(value, str) and self._prefixes["absolute"] is not None
        return is_sure and is_safe_url(value, self._origin.encoding)

    def _trimmed(self, href: str) -> str:
        return href.strip(HTML5_WHITESPACE) if self._strip else href

    def _quoted(self, href: str, cut: int) -> str | None:
        """Paths are quoted in UTF-8, what follows them in the encoding of the page."""
        if self._origin.encoding != "utf-8" and not href[cut:].isascii():
            return None
        return quote(href, _SAFE)


class _Prefixes(dict[str, str | None]):
    """What stands before every plain href of a kind, found out when it is first asked for.

    None: nothing that is sure.
    """

    def __init__(self, origin: Origin) -> None:
        super().__init__()
        self._origin = origin
        self._is_sure = origin.page.startswith("http") and _keeps_ascii(origin.encoding)

    def __missing__(self, kind: str) -> str | None:
        prefix = self[kind] = self._find(kind) if self._is_sure else None
        return prefix

    def _find(self, kind: str) -> str | None:
        if kind == "absolute":
            return ""
        match = _BASE.match(self._origin.base)
        if match is None:
            return None
        # Pages of one host, or of one directory, share what was found out.
        directory = match[1] + (match[2] or "/")
        shared = {"rooted": match[1], "relative": directory, "parent": directory}
        base = shared.get(kind, self._origin.base)
        return _probe(Origin(base, match[1], self._origin.encoding), _PROBES[kind])


@lru_cache(maxsize=4096)
def _probe(origin: Origin, href: str) -> str | None:
    url = Resolver(origin).settled(urljoin(origin.base, href))
    end = href.removeprefix("../")
    return url.removesuffix(end) if url and url.endswith(end) else None


@lru_cache
def _keeps_ascii(encoding: str) -> bool:
    """Whether plain characters are the same bytes in an encoding as in ASCII."""
    plain = "".join(filter(_PLAIN.fullmatch, map(chr, range(127)))) + _SAFE
    try:
        return plain.encode(encoding) == plain.encode()
    except (LookupError, UnicodeEncodeError):
        return False


def is_safe_url(url: str, encoding: str) -> bool:
    """Whether Scrapy surely leaves a URL as it is."""
    return url.isascii() and bool(_PLAIN_URL.fullmatch(url)) and _keeps_ascii(encoding)


def resolver_of(response: TextResponse, strip: bool = True) -> Resolver:
    return Resolver(Origin(get_base_url(response), response.url, response.encoding), strip)
