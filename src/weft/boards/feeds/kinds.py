"""Tells feeds and sitemaps from pages, by their first bytes."""

import re
from typing import NamedTuple

from w3lib.encoding import read_bom

from weft.boards.feeds.unpacking import unpacked_start

#: So much of a file is looked at.
HEAD_BYTES = 8_192
SITEMAP_ROOTS = frozenset(("urlset", "sitemapindex"))

#: What may stand before the root of an XML file.
_PROLOG = re.compile(
    r"(?:[\s\ufeff\0]++|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[<>]*+(?:\[.*?\]\s*+)?+>)*+",
    re.DOTALL | re.IGNORECASE,
)
_ROOT = re.compile(r"<(?:[\w.-]++:)?+([a-z][\w.-]*+)(?=[\s/>])", re.IGNORECASE)
_RDF_FEED = re.compile(r"purl\.org/rss/|/rdf/simple/0\.9", re.IGNORECASE)
_ATOM = re.compile(r"www\.w3\.org/2005/Atom|purl\.org/atom/ns", re.IGNORECASE)
_JSON_FEED = re.compile(r'"version"\s*+:\s*+"https?:\\?/\\?/(?:www\.)?jsonfeed\.org\\?/version\\?/')
_URL_LINE = re.compile(r"[\s\ufeff]*+https?://[^\s<>\"]++[ \t]*+(?:[\r\n]|\Z)", re.IGNORECASE)


class XmlRoot(NamedTuple):
    #: In lower case, without prefix.
    name: str
    #: Where its tag begins.
    start: int


def find_root(text: str) -> XmlRoot | None:
    """The root of an XML file; None if it is no XML, or too broken to tell."""
    prolog = _PROLOG.match(text)
    root = _ROOT.match(text, prolog.end() if prolog else 0)
    return XmlRoot(root[1].lower(), root.start()) if root else None


def looks_like_feed(body: bytes, content_type: str) -> bool:
    """Whether an answer is a feed, whatever type it is said to have; costs next to nothing.

    A page is no feed, even if its type says so.
    """
    head = _head(body)
    kind = content_type.split(";")[0].strip().lower()
    if head.lstrip("\ufeff\0 \t\r\n").startswith("{"):
        return kind == "application/feed+json" or is_json_feed(head + _tail(body))
    root = find_root(head)
    return root is not None and is_feed_root(root, head, kind)


def looks_like_sitemap(body: bytes) -> bool:
    """Whether an answer is a sitemap: an index, a list of pages, or a text with a URL in each line;
    it may be packed."""
    head = _head(body)
    root = find_root(head)
    return root.name in SITEMAP_ROOTS if root else is_list_of_urls(head)


def is_feed_root(root: XmlRoot, text: str, kind: str) -> bool:
    """Whether this is the root of a feed; `kind` is the type that the file is said to have."""
    beginning = text[root.start : root.start + HEAD_BYTES]
    if root.name == "rdf":
        return _RDF_FEED.search(beginning) is not None
    if root.name == "feed":
        # Other XML has such roots, too.
        return "atom" in kind or _ATOM.search(beginning) is not None
    return root.name == "rss"


def is_list_of_urls(text: str) -> bool:
    """Whether the first line is a URL, and nothing else."""
    return _URL_LINE.match(text) is not None


def is_json_feed(text: str) -> bool:
    """Whether it says so in what is given of it."""
    return _JSON_FEED.search(text) is not None


def _head(body: bytes) -> str:
    head = unpacked_start(body, HEAD_BYTES)
    encoding, _ = read_bom(head)
    if not encoding and b"\0" in head[:4]:
        encoding = "utf-16-be" if head[0] == 0 else "utf-16-le"
    # Names of elements are the same in all other encodings.
    return head.decode(encoding or "utf-8", "ignore")


def _tail(body: bytes) -> str:
    """Where a feed says what it is, if its keys are sorted."""
    return body[max(HEAD_BYTES, len(body) - HEAD_BYTES) :].decode("latin-1")
