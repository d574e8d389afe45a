"""Finds the authors of an article.

The order of trust: JSON-LD, meta tags, elements that are marked as author, bylines near the
title. The first that gives the name of a person counts; the others are not asked.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from weft.boards.reading.article.bylines import find_bylines
from weft.boards.reading.article.linked import find_article, resolved, texts, types
from weft.boards.reading.article.names import MAX_NAMES, read_names, read_organisations, unique
from weft.boards.reading.article.region import Surroundings
from weft.boards.reading.article.sections import find_sections
from weft.boards.reading.article.sitenames import find_site_names
from weft.boards.reading.article.titles import find_title
from weft.boards.reading.page import MAX_NESTING, Page

#: Meta tags with names of authors, the most reliable first.
_METAS = (
    "citation_author", "parsely-author", "sailthru.author", "cxenseparse:author", "byl", "author",
    "article:author", "article:author_name", "dc.creator", "dcterms.creator", "dc.author",
    "og:author", "article.author", "authors", "rbauthors", "news_author", "twitter:creator:name",
)  # fmt: skip
#: Meta tags that write "Family, Given".
_FAMILY_FIRST = ("citation_author", "dc.creator", "dcterms.creator")
_REVERSED = re.compile(r"([^,\s]+(?:\s[^,\s]+)?),\s*([^,]+)")
#: Types of authors in JSON-LD that are no people.
_NO_PEOPLE = frozenset((
    "Organization", "NewsMediaOrganization", "Corporation", "WebSite", "WebPage", "Thing",
))  # fmt: skip
#: Labels of Twitter cards whose value is the author.
_WRITTEN_BY = re.compile(
    r"\bby$|verfasst|author|autor|écrit|escrito|geschre|geschrie|skrev|scritto|作者"
)


def find_authors(page: Page, around: Surroundings | None = None) -> list[str]:
    """The names of the people who wrote the page's article; empty if it names none.

    An organisation is given only if the page declares it as the author and names no person.
    `around` is what stands around the title, if somebody has it already.
    """
    others = page.once(find_site_names).extended(find_sections(page))
    for source in _sources(page, around):
        few = islice(source, MAX_NAMES)
        if names := unique(name for text in few for name in read_names(text, others)):
            return names
    for source in _declared(page, is_person=False):
        few = islice(source, MAX_NAMES)
        if names := unique(name for text in few for name in read_organisations(text)):
            return names
    return []


def _sources(page: Page, around: Surroundings | None) -> Iterator[Iterable[str]]:
    yield from _declared(page)
    yield from find_bylines(page, around or Surroundings(page, page.once(find_title)))


def _declared(page: Page, *, is_person: bool = True) -> Iterator[Iterable[str]]:
    """What the page tells machines; if asked for people, without what it calls no person."""
    article = find_article(page)
    yield _linked_names(page, article.get("author"), is_person)
    yield _linked_names(page, article.get("creator"), is_person)
    for name in _METAS:
        values = page.metas.get(name, [])
        yield [_given_first(text) for text in values] if name in _FAMILY_FIRST else values
    yield _of_twitter(page)


def _given_first(text: str) -> str:
    match = _REVERSED.fullmatch(text)
    return f"{match[2]} {match[1]}" if match else text


def _linked_names(page: Page, value: Any, is_person: bool, depth: int = 0) -> Iterator[str]:
    """References to other objects of the page are followed."""
    if depth > MAX_NESTING:
        return
    if isinstance(value, list):
        for entry in value[:MAX_NAMES]:
            yield from _linked_names(page, entry, is_person, depth + 1)
        return
    value = resolved(page, value)
    if not (is_person and isinstance(value, dict) and _NO_PEOPLE.intersection(types(value))):
        yield from texts(value)


def _of_twitter(page: Page) -> Iterator[str]:
    for number in ("1", "2"):
        label = page.meta(f"twitter:label{number}").lower().strip()
        if label and _WRITTEN_BY.search(label):
            yield page.meta(f"twitter:data{number}")
