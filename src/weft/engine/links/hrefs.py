"""The links of a page: one lexbor parse of it, and the URLs of its hrefs.

Scrapy turns an href into a URL in three steps: it joins it with the base of the page, makes the
result safe (`w3lib.url.safe_url_string`), and joins that with the address of the page. That takes
ten microseconds or more, and for a plain href the result is just a prefix and the href. So
`UrlMaker` finds the prefixes of a page with Scrapy's own functions, puts them before plain hrefs,
and passes every other href to those functions.
"""

import re
from functools import cache, lru_cache
from typing import NamedTuple
from urllib.parse import quote, urljoin
from weakref import WeakKeyDictionary

from scrapy.http import Response, TextResponse
from scrapy.linkextractors.lxmlhtml import logger
from scrapy.utils.response import get_base_url
from selectolax.lexbor import LexborHTMLParser
from w3lib.html import HTML5_WHITESPACE
from w3lib.url import safe_url_string

from weft.markup import find_excess, parse_page

_trees: WeakKeyDictionary[TextResponse, LexborHTMLParser | None] = WeakKeyDictionary()


def tree_of(response: TextResponse) -> LexborHTMLParser | None:
    """The page as lexbor reads it: parsed once, and shared by all callers. Do not change it.

    None if it would take too much time or memory. The text is stripped and NUL characters are
    removed, as for Scrapy's selectors.
    """
    if response not in _trees:
        page = response.text.strip().replace("\0", "").encode(errors="replace")
        _trees[response] = None if find_excess(page) else parse_page(page)
    return _trees[response]


def forget_tree(response: Response) -> None:
    """Its callback is done: free the tree now. A response may live until Python looks for
    cycles."""
    if isinstance(response, TextResponse):
        _trees.pop(response, None)


# Characters that Scrapy leaves alone, and those outside ASCII, which it only quotes. Characters
# with a special meaning in some place (`;` and `\`, `'` in a query, `:` in a first segment) are not
# included; neither are empty segments and those of one or two dots.
_FOREIGN = "\u00a0-\ud7ff\ue000-\U0010ffff"
_WORD = rf"\w\-.~!$&()*+,=@%{_FOREIGN}"
_SEGMENT = rf"(?!\.\.?(?:[/?#]|\Z))[{_WORD}']++"
_PATH = rf"{_SEGMENT}(?:/{_SEGMENT})*+/?"
_PORT = r"[1-9]\d{0,3}|[1-5]\d{4}"
_HOST = rf"https?://[a-z0-9]+(?:[.-][a-z0-9]+)*(?::(?:{_PORT}))?"
_UP = r"\.\./"
_ABSOLUTE = rf"{_HOST}/[{_WORD}'/:]*+"
_REST = rf"(?:\?[{_WORD}/?:]++)?(?:#[{_WORD}'/?:]++)?"
_PLAIN = (
    rf"(?:(?P<rooted>/(?:{_PATH})?)|(?P<relative>{_PATH})|(?P<absolute>{_ABSOLUTE})"
    rf"|(?P<parent>{_UP}(?:{_PATH})?)|(?P<query>(?=\?))|(?P<fragment>(?=#))){_REST}"
)
_PLAIN_URL = re.compile(_ABSOLUTE + _REST, re.ASCII)
#: Characters that a plain href may have and Scrapy leaves alone.
_SAFE = "/?#:!$&'()*+,=@%"
_NO_PAGE = re.compile(r"(?!(?:https?|ftp|file):)[a-z][a-z0-9+.-]*:", re.ASCII | re.IGNORECASE)
_BASE = re.compile(r"(https?://[^/?#]+)((?:/[^/?#]*)*/)?")
_PROBES = {"rooted": "/x", "relative": "x", "parent": "../x", "query": "?x", "fragment": "#x"}


class HrefScope(NamedTuple):
    """Everything that decides the meaning of an href that starts with one of `PLACED`."""

    root: str
    scheme: str
    encoding: str


class HrefBase(NamedTuple):
    """Everything that decides what an href means."""

    base: str
    page: str
    encoding: str

    @property
    def scope(self) -> HrefScope:
        base = _BASE.match(self.base)
        if base is None:
            return HrefScope(*self)
        return HrefScope(base[1], self.page.partition(":")[0], self.encoding)


#: An href that starts with one of these means the same on all pages of a scope.
PLACED = ("/", "http://", "https://")


class UrlMaker:
    """Turns the hrefs of one page into exactly the URLs that Scrapy makes."""

    def __init__(self, origin: HrefBase, strip: bool = True) -> None:
        self._origin = origin
        self._strip = strip
        self._prefixes = _Prefixes(origin)
        self._plain = _plain()
        self.scope = origin.scope

    def url(self, href: str) -> str | None:
        """The URL that an href means; None if it does not lead to a page."""
        trimmed = self._trimmed(href)
        if match := self._plain.fullmatch(trimmed):
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
        """An href as Scrapy passes it to `process_value`: absolute, but otherwise as written."""
        try:
            return urljoin(self._origin.base, self._trimmed(href))
        except ValueError:
            return None

    def settled(self, value: str) -> str | None:
        """The URL that Scrapy makes from what `process_value` returned."""
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
    """The prefix of every plain href of a kind, determined on first use.

    None if it is not certain.
    """

    def __init__(self, origin: HrefBase) -> None:
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
        # Pages of one host, or of one directory, share the result.
        directory = match[1] + (match[2] or "/")
        shared = {"rooted": match[1], "relative": directory, "parent": directory}
        base = shared.get(kind, self._origin.base)
        return _probe(HrefBase(base, match[1], self._origin.encoding), _PROBES[kind])


@lru_cache(maxsize=4096)
def _probe(origin: HrefBase, href: str) -> str | None:
    url = UrlMaker(origin).settled(urljoin(origin.base, href))
    end = href.removeprefix("../")
    return url.removesuffix(end) if url and url.endswith(end) else None


@cache
def _plain() -> re.Pattern[str]:
    """Compiled on first use, because it takes a twentieth of the start of a crawl."""
    return re.compile(_PLAIN, re.ASCII)


#: Encodings of most pages, for which this is known.
_KEEP_ASCII = frozenset({"ascii", "utf-8", "utf8", "cp1252", "iso-8859-1", "latin-1"})


@lru_cache
def _keeps_ascii(encoding: str) -> bool:
    """Whether plain characters are the same bytes in an encoding as in ASCII."""
    if encoding.lower() in _KEEP_ASCII:
        return True
    plain = "".join(filter(_plain().fullmatch, map(chr, range(127)))) + _SAFE
    try:
        return plain.encode(encoding) == plain.encode()
    except (LookupError, UnicodeEncodeError):
        return False


def is_safe_url(url: str, encoding: str) -> bool:
    """Whether Scrapy is sure to leave a URL as it is."""
    return url.isascii() and bool(_PLAIN_URL.fullmatch(url)) and _keeps_ascii(encoding)


def url_maker_of(response: TextResponse, strip: bool = True) -> UrlMaker:
    return UrlMaker(HrefBase(get_base_url(response), response.url, response.encoding), strip)
