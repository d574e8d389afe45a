"""Finds the lines near a title that name the authors."""

import re
from collections.abc import Iterable, Iterator, Sequence

from selectolax.lexbor import LexborNode

from weft.boards.reading.article.chinese import find_chinese_authors
from weft.boards.reading.article.region import Region, Surroundings
from weft.boards.reading.page import Page, clean

#: Elements that are the author by definition.
_MARKED = (
    '[itemprop="author"] [itemprop="name"]', '[itemprop="author"]', '[rel="author"]',
)  # fmt: skip
#: Classes of elements that hold the author.
_CLASS = re.compile(
    r"byline|author|writer|username|\bposter\b|contributor|autor|auteur", re.IGNORECASE
)
#: Classes of elements that hold something about the author.
_NO_CLASS = re.compile(
    r"bio|desc|avatar|img|image|photo|social|follow|share|count|comment|role|icon", re.IGNORECASE
)
#: Links to the page of an author.
_PROFILE = re.compile(
    r"/(?:authors?|people|profiles?|members?|users?|contributors?|staff|journalists?|reporters?|autor|autoren"
    r"|auteurs?|autores|writers?|columnists?)/[^/]|[?&]author=|viewprofile",
    re.IGNORECASE,
)
_BY = (
    r"(?:(?:written|posted|story|words|text|reported|article|interview)\s+by|by|von|par|por|door|av|af|di"
    r"|автор|author|autor|autorin/autor|auteur|autore|text)"
)
#: A capital letter of any script that has them.
_NAME_START = r"[A-ZÀ-ÖØ-ÞĀ-Ž\u0400-\u042f\u0391-\u03a9\u3040-\uffff]"
#: "By Jane Doe", also with "By" on the line before.
_BY_LINE = re.compile(rf"\n(?i:{_BY})\b[\s:]+(?P<names>{_NAME_START}[^\n\d]{{2,60}})")
#: The same where it is sure enough to be searched for in all of the page.
_WRITTEN_BY = re.compile(
    r"\n(?i:written by|words by|reported by|autorin/autor|author|autor|auteur|автор)[\s:]+"
    rf"(?P<names>{_NAME_START}[^\n\d]{{2,60}})"
)
#: Text of an element with an author is short.
MAX_BYLINE = 120
#: Elements without an author, so that their attributes need not be read.
_PLAIN_TAGS = frozenset(("br", "svg", "path", "img", "script", "style", "button", "source", "i"))
#: How many marked elements are read.
MAX_MARKED = 3
#: Bylines farther from the title are of other articles.
MAX_DISTANCE = 1000


def find_bylines(page: Page, around: Surroundings) -> Iterator[Iterable[str]]:
    """Texts with names of authors, the most reliable source first."""
    for selector in _MARKED:
        yield _of_one_article(page.tree.css(selector)[:MAX_MARKED])
    yield from _by_class(around.after)
    yield _matches(_BY_LINE, around.after.text[:MAX_DISTANCE])
    yield _matches(_BY_LINE, around.before.text)
    yield from _by_class(around.before)
    yield from find_chinese_authors(around.after.text, around.whole_text)
    yield _matches(_WRITTEN_BY, around.whole_text)


def _of_one_article(nodes: Sequence[LexborNode]) -> list[str]:
    """The text of the first, and of those beside it: others are of other articles."""
    named = [(node, text) for node in nodes if (text := _text(node))]
    if not named:
        return []
    place = _place(named[0][0])
    return [text for node, text in named if _place(node) == place]


def _place(node: LexborNode) -> int | None:
    return node.parent.mem_id if node.parent else None


def _by_class(region: Region) -> Iterator[Iterable[str]]:
    for at, node in region.elements:
        if at > MAX_DISTANCE:
            return
        if node.tag not in _PLAIN_TAGS and _is_author(node):
            yield [_text(node)]


def _is_author(node: LexborNode) -> bool:
    attributes = node.attributes
    names = attributes.get("class") or ""
    if names and _CLASS.search(names) and not _NO_CLASS.search(names):
        return True
    return node.tag == "a" and bool(_PROFILE.search(attributes.get("href") or ""))


def _matches(rule: re.Pattern[str], text: str) -> list[str]:
    return [match["names"] for match in rule.finditer("\n" + text)][:1]


def _text(node: LexborNode) -> str:
    """The text of a short element; empty if it is long."""
    content = node.attributes.get("content")
    text = clean(content or node.text(deep=True, separator=" "))
    return text if len(text) <= MAX_BYLINE else ""
