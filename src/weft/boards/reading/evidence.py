"""What a page shows of its kind: the numbers that its two scores are made of.

An article has prose of its own, a title, a day; a list has links, and prose only about what it
links to. So prose within the cards of a list does not count as the page's own.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from selectolax.lexbor import LexborNode

from weft.boards.reading.article.datetext import find_dates_in
from weft.boards.reading.article.linked import types
from weft.boards.reading.article.titles import find_title
from weft.boards.reading.blocks import Block, Blocks, rank_containers, weight
from weft.boards.reading.page import Page
from weft.boards.reading.topics import Topics

#: Stands for the address of a page that nobody knows; it says nothing.
UNKNOWN_URL = "http://unknown.invalid/"
#: Titles are not longer.
LONGEST_TITLE = 60
#: Words of a slug that count.
MOST_HYPHENS = 5
#: A number with so many digits in an address is an identifier or a date, not a page.
IDENTIFIER_DIGITS = 4
#: With more days than that it is a list of days.
MOST_DAYS = 3
#: So many years are looked at to find them.
MOST_YEARS = 30
#: A day stands in the characters around its year.
DAY_REACH = 24
#: A page that leads to so many parts of itself has parts.
MANY_SECTIONS = 3
#: What is assumed of a page that has no prose or no links: which of them comes first.
UNKNOWN = 0.5

_YEAR = re.compile(r"(?:19|20|25)\d\d(?!\d)")
_IDENTIFIER = re.compile(rf"\d{{{IDENTIFIER_DIGITS},}}")
_THREADS = frozenset({"DiscussionForumPosting", "QAPage"})
_PRICES = ("product:price:amount", "og:price:amount", "price")


class Evidence(NamedTuple):
    """What is known of a page from the page itself."""

    #: Letters of its own prose in one container, outside of cards.
    prose: float
    #: The share that this prose has of all text.
    share: float
    #: The share of its own prose that stands before the middle one of the topic links.
    before: float
    #: The score of the best group of topic links, and its size.
    links: float
    size: int
    #: The share of the topic links whose addresses differ from that of the page in the last part.
    siblings: float
    #: Letters of the title.
    title: float
    #: If not, nothing is known from the address.
    has_url: bool
    #: The signs between words in the longest part of the path.
    hyphens: int
    has_identifier: bool
    is_front: bool
    #: It shows a day, or a few, but not many.
    has_day: bool
    #: It has a table of its own sections.
    has_sections: bool
    #: A next page follows.
    has_next: bool
    #: It declares itself to be about one thing: a product, a thread.
    is_thing: bool


def gather(page: Page, topics: Topics, next_urls: Sequence[str]) -> Evidence:
    """Measure a page. `next_urls`: what `find_next` found."""
    blocks = Blocks(page.tree)
    own = _own_blocks(blocks, topics.cards)
    containers = rank_containers(own)
    prose = containers[0][0] if containers else 0.0
    url = page.absolute(page.url) or ""
    path, query = _path_and_query(url)
    return Evidence(
        prose=prose,
        share=prose / (1.0 + blocks.plain + blocks.linked),
        before=_share_before(blocks, own, topics),
        links=topics.score,
        size=topics.size,
        siblings=_share_of_siblings(url, topics),
        title=min(weight(find_title(page)), LONGEST_TITLE),
        has_url=url not in ("", UNKNOWN_URL),
        hyphens=min(MOST_HYPHENS, max(part.count("-") + part.count("_") for part in path)),
        has_identifier=any(map(_IDENTIFIER.search, path)),
        is_front=not any(path) and not query,
        has_day=0 < _count_days(blocks.texts) <= MOST_DAYS,
        has_sections=_has_sections(page),
        has_next=bool(next_urls),
        is_thing=_is_thing(page),
    )


def _own_blocks(blocks: Blocks, cards: frozenset[int]) -> list[Block]:
    """The blocks of prose outside of cards."""
    known = dict.fromkeys(cards, True)
    return [block for block in blocks.all if block.prose and not _is_below(block.node, known)]


def _is_below(node: LexborNode, known: dict[int, bool]) -> bool:
    """Whether it is in one of the elements that are known to be; what is found out is kept."""
    passed = []
    found = False
    above: LexborNode | None = node
    while above is not None:
        key = above.mem_id
        if key in known:
            found = known[key]
            break
        passed.append(key)
        above = above.parent
    known.update(dict.fromkeys(passed, found))
    return found


def _share_before(blocks: Blocks, own: list[Block], topics: Topics) -> float:
    middle = topics.best[len(topics.best) // 2].node if topics.best else None
    at = blocks.around(middle) if middle is not None else None
    total = sum([block.prose for block in own])
    if at is None or not total:
        return UNKNOWN
    return sum([block.prose for block in own if block.number < at.number]) / total


def _share_of_siblings(url: str, topics: Topics) -> float:
    urls = {link.url for link in topics.best}
    parent = _parent(url)
    return sum([_parent(other) == parent for other in urls]) / len(urls) if parent and urls else 0.0


def _parent(url: str) -> str:
    """The address without the last part of its path; empty if it has no path."""
    start = url.partition("//")[2].partition("?")[0].rstrip("/").removeprefix("www.")
    return start.rpartition("/")[0]


def _path_and_query(url: str) -> tuple[list[str], str]:
    parts = urlsplit(url)
    return parts.path.split("/"), parts.query


def _count_days(texts: Iterable[str]) -> int:
    """How many different days a page shows; it stops counting where they are too many."""
    days = set()
    text = "\n".join(texts)
    for number, year in enumerate(_YEAR.finditer(text)):
        around = text[max(0, year.start() - DAY_REACH) : year.end() + DAY_REACH]
        days.update([found.moment.day for found in find_dates_in(around)])
        if len(days) > MOST_DAYS or number == MOST_YEARS:
            break
    return len(days)


def _has_sections(page: Page) -> bool:
    names = {node.attributes.get("href") for node in page.tree.css('a[href^="#"]')}
    return len(names - {"#", None}) >= MANY_SECTIONS


def _is_thing(page: Page) -> bool:
    """Lists declare a product for each of their entries."""
    declared = page.meta("og:type").lower()
    if ("product" in declared and "group" not in declared) or page.meta(*_PRICES):
        return True
    names = [name for entry in page.json_ld for name in types(entry)]
    for node in page.tree.css("[itemtype]"):
        names.append((node.attributes.get("itemtype") or "").rpartition("/")[2])
    return names.count("Product") == 1 or not _THREADS.isdisjoint(names)
