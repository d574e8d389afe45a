"""`weft.read_page` and `weft.ArticleItem`, for the callbacks of any Scrapy spider."""

from dataclasses import dataclass, field
from typing import Any, Self

import msgspec
from scrapy.http import Response
from w3lib.encoding import http_content_type_encoding

from weft.boards.reading.reading import DEFAULT_OPTIONS, Article, Reading, ReadOptions, read
from weft.clock import today


def read_page(response: Response, options: ReadOptions = DEFAULT_OPTIONS) -> Reading:
    """What Weft makes of a page: its kind, its article, its topic links, its next page.

    Raises `weft.errors.PageError` if the page exceeds a limit.
    """
    header = (response.headers.get("Content-Type") or b"").decode("latin-1")
    charset = http_content_type_encoding(header)
    return read(response.body, response.url, charset, today=today(), options=options)


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
