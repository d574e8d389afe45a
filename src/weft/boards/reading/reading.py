"""A reading: what Weft makes of one page.

A page is parsed once. From its tree come the topic links, the next pages and the two scores of its
kind. Only a page that passes as an article is read as one, because that costs ten times as much.
"""

from collections.abc import Callable
from datetime import date
from typing import Any, TypeVar

import msgspec

from weft.boards.fields import NO_RULES, FieldRules, apply_rules
from weft.boards.fields.apply import DEFAULT_SECONDS as RULES_SECONDS
from weft.boards.reading.announced import find_announced
from weft.boards.reading.article.body import Body, read_body
from weft.boards.reading.article.dates import is_day_first
from weft.boards.reading.article.metadata import Metadata, find_metadata
from weft.boards.reading.article.simhash import simhash
from weft.boards.reading.deadline import within
from weft.boards.reading.kind import Judgement, Provenance, judge
from weft.boards.reading.page import Page, find_title_tag, open_page
from weft.boards.reading.pager import find_next
from weft.boards.reading.topics import Link, find_topics
from weft.clock import monotonic_s
from weft.errors import PageError
from weft.markup import DEFAULT_LIMITS, PageLimits

#: The time that a page may take.
DEFAULT_SECONDS = 2.0

Result = TypeVar("Result")


class Article(Metadata, frozen=True):
    """What is known about an article, and its text. Texts are empty where the page says nothing."""

    #: Plain text, a line for each paragraph.
    body: str = ""
    #: The same with headings, lists, links, images and tables.
    markdown: str = ""
    canonical_url: str = ""
    #: 16 hexadecimal digits that differ in few bits from those of a similar body.
    simhash: str = ""
    #: Fields that only the rules name.
    extra: dict[str, Any] = msgspec.field(default_factory=dict)


class Reading(msgspec.Struct, frozen=True):
    """What Weft made of one page."""

    #: As given, or else what the page calls its own; empty if nobody knows it.
    url: str
    #: Python's name of the encoding that the page really has.
    encoding: str
    #: Whether it is an article, and whether it has topic links, each with reasons.
    judgement: Judgement
    #: The article's, or else what the page calls itself.
    title: str
    #: None if the page is none.
    article: Article | None
    #: The topic links; none if the page is no list.
    links: tuple[Link, ...]
    #: The next page and the numbered pages after it.
    next: tuple[str, ...]
    #: The feeds that the page announces.
    feeds: tuple[str, ...]
    #: What the page announces as its own address; empty if it does not.
    canonical_url: str
    #: What found the body.
    method: str = ""
    #: The names of rules that found nothing, each with the reason if there is a special one.
    unmatched: dict[str, str] = {}
    #: All links of the page, if they were asked for.
    all_links: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """`data` for an article or detail page, `nav` for a list."""
        return self.judgement.kind.name.lower()


class ReadOptions(msgspec.Struct, frozen=True):
    """How pages are read."""

    #: None: those of the crawl, or else the usual ones.
    limits: PageLimits | None = None
    #: What takes longer is given up. None: as the crawl's settings say, or else two seconds.
    seconds: float | None = None
    #: A tenth of the cost, with more around the body than belongs to it.
    is_fast: bool = False
    #: Read every page as an article, whatever it looks like.
    is_article: bool = False
    #: Read no page as an article.
    is_list: bool = False
    #: Return all links of the page.
    has_all_links: bool = False
    rules: FieldRules = NO_RULES


DEFAULT_OPTIONS = ReadOptions()


def read(
    page: bytes,
    url: str = "",
    charset: str | None = None,
    *,
    provenance: Provenance | None = None,
    today: date | None = None,
    options: ReadOptions = DEFAULT_OPTIONS,
) -> Reading:
    """Read a page, given as it was received.

    `charset`: what the HTTP header says. `today`: the day at which the page was fetched; dates
    after the next day are not believed. Raises PageError if the page exceeds a limit.
    """
    limit_s = DEFAULT_SECONDS if options.seconds is None else options.seconds
    end_s = monotonic_s() + limit_s

    def left_s() -> float:
        return end_s - monotonic_s()

    def in_time(work: Callable[[], Result]) -> Result:
        try:
            return within(left_s(), work)
        except TimeoutError as error:
            raise PageError(f"not read: it took longer than {limit_s:g} s", "seconds") from error

    opened, judged = in_time(lambda: _judge(page, url, charset, provenance, options))
    is_article = judged.judgement.article.passes or options.is_article
    if options.is_list or not is_article:
        return judged
    metadata = in_time(lambda: find_metadata(opened, today))
    body = read_body(opened, metadata.title, fast=options.is_fast, seconds=left_s())
    rules_s = max(0.0, min(RULES_SECONDS, left_s()))
    found = apply_rules(opened, options.rules, day_first=is_day_first(opened), seconds=rules_s)
    article = _signed(msgspec.structs.replace(_article(judged, metadata, body), **found.values))
    return msgspec.structs.replace(
        judged,
        title=article.title,
        article=article,
        method=body.method,
        unmatched={name: found.problems.get(name, "") for name in found.unmatched},
    )


def _judge(
    page: bytes,
    url: str,
    charset: str | None,
    provenance: Provenance | None,
    options: ReadOptions,
) -> tuple[Page, Reading]:
    """All but the article."""
    opened = open_page(page, url, charset, options.limits or DEFAULT_LIMITS)
    topics = find_topics(opened)
    following = find_next(opened)
    judgement = judge(opened, topics, following, provenance or Provenance())
    announced = find_announced(opened)
    reading = Reading(
        url=opened.url,
        encoding=opened.encoding,
        judgement=judgement,
        title=find_title_tag(opened),
        article=None,
        links=tuple(topics.links) if judgement.topics.passes else (),
        next=tuple(following),
        feeds=announced.feeds,
        canonical_url=announced.canonical_url,
        all_links=_all_links(opened) if options.has_all_links else (),
    )
    return opened, reading


def _all_links(page: Page) -> tuple[str, ...]:
    return tuple(dict.fromkeys(link.url for link in page.links))


def _article(reading: Reading, metadata: Metadata, body: Body) -> Article:
    found = msgspec.structs.asdict(metadata)
    found["images"] = tuple(dict.fromkeys((*metadata.images, *body.images)))
    return Article(
        **found, body=body.text, markdown=body.markdown, canonical_url=reading.canonical_url
    )


def _signed(article: Article) -> Article:
    """With the SimHash of its body."""
    if not article.body:
        return article
    return msgspec.structs.replace(article, simhash=f"{simhash(article.body):016x}")
