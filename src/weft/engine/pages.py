"""`weft.read_page` and `weft.ArticleItem`, for the callbacks of any Scrapy spider."""

from dataclasses import dataclass, field
from typing import Any, Self

import msgspec
from scrapy.http import Response
from w3lib.encoding import http_content_type_encoding

from weft.boards.reading.provenance import Provenance
from weft.boards.reading.reading import DEFAULT_OPTIONS, Article, Reading, ReadOptions, read
from weft.clock import today
from weft.engine.running import find_crawl_of
from weft.errors import PageError
from weft.markup import PageLimits

#: The limits that settings can change.
_SETTABLE = frozenset(("bytes", "tags", "depth", "attributes", "seconds"))


def read_page(response: Response, options: ReadOptions = DEFAULT_OPTIONS) -> Reading:
    """What Weft makes of a page: its kind, its article, its topic links, its next page.

    The limits are those of the crawl's settings, unless the options have others. Raises
    `weft.errors.PageError` if the page exceeds one.
    """
    return read_response(response, None, options)


def read_response(
    response: Response, provenance: Provenance | None, options: ReadOptions = DEFAULT_OPTIONS
) -> Reading:
    """The same, knowing how a crawl came to the page."""
    crawl = find_crawl_of(response)
    given = options
    if crawl is not None:
        options = _with_limits(given, crawl.config.page_limits, crawl.config.page_s)
    header = (response.headers.get("Content-Type") or b"").decode("latin-1")
    charset = http_content_type_encoding(header)
    try:
        return read(
            response.body,
            response.url,
            charset,
            provenance=provenance,
            today=today(),
            options=options,
        )
    except PageError as error:
        if crawl is None or not _is_of_crawl(error.limit, given):
            raise
        setting = f"WEFT_MAX_PAGE_{error.limit.upper()}"
        raise PageError(f"{error} ({setting})", error.limit) from error


def _is_of_crawl(limit: str, given: ReadOptions) -> bool:
    """Whether a setting of the crawl can change this limit."""
    own = given.seconds if limit == "seconds" else given.limits
    return own is None and limit in _SETTABLE


def _with_limits(options: ReadOptions, limits: PageLimits, seconds: float) -> ReadOptions:
    """With what the options leave to the crawl."""
    return msgspec.structs.replace(
        options,
        limits=options.limits or limits,
        seconds=seconds if options.seconds is None else options.seconds,
    )


@dataclass
class ArticleItem:
    """An article as an item: `yield ArticleItem.of(read_page(response))`."""

    url: str
    title: str = ""
    authors: list[str] = field(default_factory=list)
    #: ISO: a day, with time and time zone where the page gives them.
    published: str = ""
    modified: str = ""
    language: str = ""
    description: str = ""
    body: str = ""
    markdown: str = ""
    images: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    site_name: str = ""
    canonical_url: str = ""
    simhash: str = ""
    #: Fields that only your rules name.
    extra: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, reading: Reading) -> Self:
        """The article of a page; with only URL and title for a page that has none."""
        article = reading.article or Article(title=reading.title)
        values = msgspec.structs.asdict(article)
        lists = {name: list(values[name]) for name in ("authors", "images", "tags")}
        return cls(url=reading.url, **(values | lists))
