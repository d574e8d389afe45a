"""What a page shows of its kind: the numbers that its two scores are made of.

An article has prose of its own, a title, a day; a list has links, and prose only about what it
links to. So prose within the cards of a list, or below a heading that leads to another page, does
not count as the page's own.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from selectolax.lexbor import LexborNode

from weft.boards.reading.article.datetext import find_dates_in
from weft.boards.reading.article.linked import types
from weft.boards.reading.article.titles import find_title
from weft.boards.reading.blocks import Block, Blocks, rank_containers, weight
from weft.boards.reading.page import Page, blocks_of
from weft.boards.reading.teasers import find_teasers
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
_FRONT = re.compile(r"/*(?:(?:index|default|home)\.\w{2,5})?", re.IGNORECASE)
#: What sites call lists of their articles. Forums have topics, too, so those are not here.
_COLLECTION = re.compile(
    r"/(?:tags?|categor(?:y|ies?|ias?)|kategorien?|labels?|authors?|auteurs?|autor(?:es|en)?)/[^/]+/?$"
    r"|/page/\d+/?$|/(?:index|list)[-_]?\d{1,4}(?:[-_]\d{1,4})?(?:\.\w{2,5})?/?$"
    r"|^(?:/archives?)?/(?:19|20)\d\d(?:/\d\d?){0,2}/?$",
    re.IGNORECASE,
)
#: The same of blogs whose addresses have only a query.
_COLLECTION_QUERY = re.compile(
    r"^(?:m=(?:19|20)\d{4,6}|(?:cat|tag|author|category)=[^&]+)(?:&paged?=\d+)?$|(?:^|&)paged=\d",
    re.IGNORECASE,
)
#: An identifier in a query; `p` is the number of a page, too.
_QUERY_IDENTIFIER = re.compile(
    r"(?:^|&)(?:(?:id|[ant]id|(?:news|article|post|content|doc)_?id)=\d|p=\d{2,7}(?:&|$))",
    re.IGNORECASE,
)
#: Pages about the site itself: they are there once, and say nothing new.
_ABOUT_SITE = re.compile(
    r"^(?:/[a-z]{2}(?:-[a-z]{2})?)?(?:/(?:pages?|info|site|html))?/"
    r"(?:about(?:[-_]?(?:us|me|this(?:[-_]site)?|the[-_]author))?|contact(?:[-_]?us)?|imprint|impressum"
    r"|kontakt|datenschutz(?:erklaerung)?|(?:friends?|blogroll|my|friend[-_]?)?[-_]?links?|friends?"
    r"|privacy(?:[-_]?policy)?|cookies?[-_]?policy|(?:terms|conditions)(?:[-_](?:of[-_](?:use|service)"
    r"|and[-_]conditions))?|tos|disclaimer|legal(?:[-_]notice)?|copyright|accessibility|advertis(?:e|ing)"
    r"|search|archives?|tags|categories|authors|sitemap|guestbook|message[-_]?board|subscri(?:be|ption)"
    r"|newsletter|login|register|sign[-_]?(?:in|up)|donate|404|guanyu|gywm|lxwm"
    r"|关于(?:我们?|本站)?|联系(?:我们?)?|友情?链接?|留言板?)(?:\.[a-z]{3,5})?/?(?:index\.[a-z]{3,5})?$",
    re.IGNORECASE,
)
#: A day in an address, before the name of the page.
_DAY = re.compile(
    r"/(?:19|20)\d\d([-/]?)(?:0?[1-9]|1[0-2])\1(?:0?[1-9]|[12]\d|3[01])[-/_][^/\d]?[^/]+"
)
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
#: Characters of a Chinese title that count as a word of a slug.
CJK_WORD = 2
#: Endings of the types of JSON-LD that are articles.
_ARTICLES = ("article", "blogposting", "report")
_THREADS = frozenset({"DiscussionForumPosting", "QAPage"})
_PRICES = ("product:price:amount", "og:price:amount", "price")


class Evidence(NamedTuple):
    """What is known of a page from the page itself."""

    #: Letters of its own prose in one container, outside of cards.
    prose: float
    #: The share that this prose has of all text.
    share: float
    #: Letters of prose below headings that lead to other pages.
    foreign: float
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
    #: The address of a tag, a category, an author, a month, or a further page of a list.
    is_collection: bool
    #: The address of a page about the site, such as its imprint.
    is_about_site: bool
    #: The address has the day of its page.
    is_dated: bool
    #: It shows a day, or a few, but not many. Without prose that is the day of a link.
    has_day: bool
    #: It has a table of its own sections.
    has_sections: bool
    #: A next page follows.
    has_next: bool
    #: It declares itself to be about one thing: a product, a thread.
    is_thing: bool
    #: It declares itself to be one article, or when it was published.
    is_declared: bool


def gather(page: Page, topics: Topics, next_urls: Sequence[str]) -> Evidence:
    """Measure a page. `next_urls`: what `find_next` found."""
    blocks = blocks_of(page)
    teasers = find_teasers(page)
    own = [b for b in _own_blocks(blocks, topics.cards) if b.number not in teasers]
    containers = rank_containers(own)
    prose = containers[0][0] if containers else 0.0
    url = page.absolute(page.url) or ""
    path, query = _path_and_query(url)
    address = "/".join(path)
    return Evidence(
        prose=prose,
        share=prose / (1.0 + blocks.plain + blocks.linked),
        foreign=sum([block.prose for block in blocks.all if block.number in teasers]),
        before=_share_before(blocks, own, topics),
        links=topics.score,
        size=topics.size,
        siblings=_share_of_siblings(url, topics),
        title=min(weight(page.once(find_title)), LONGEST_TITLE),
        has_url=url not in ("", UNKNOWN_URL),
        hyphens=min(MOST_HYPHENS, max(map(_signs, path))),
        has_identifier=any(map(_IDENTIFIER.search, path))
        or _QUERY_IDENTIFIER.search(query) is not None,
        is_front=_FRONT.fullmatch(address) is not None and not query,
        is_collection=_COLLECTION.search(address) is not None
        or _COLLECTION_QUERY.search(query) is not None,
        is_about_site=_ABOUT_SITE.search(address) is not None,
        is_dated=_DAY.search(address) is not None,
        has_day=prose > 0 and 0 < _count_days(blocks.text) <= MOST_DAYS,
        has_sections=_has_sections(page),
        has_next=bool(next_urls),
        is_thing=_is_thing(page),
        is_declared=_is_declared(page),
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
    return unquote(parts.path).split("/"), parts.query


def _signs(part: str) -> int:
    """How many signs stand between the words of a part; Chinese has none."""
    signs = part.count("-") + part.count("_")
    return signs if part.isascii() else max(signs, len(_CJK.findall(part)) // CJK_WORD)


def _count_days(text: str) -> int:
    """How many different days a page shows; it stops counting where they are too many."""
    days = set()
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


def _is_declared(page: Page) -> bool:
    """Lists declare an article for each of their entries."""
    names = [name.lower() for entry in page.json_ld for name in types(entry)]
    articles = sum([name.endswith(_ARTICLES) for name in names])
    return articles == 1 or (not articles and bool(page.meta("article:published_time")))
