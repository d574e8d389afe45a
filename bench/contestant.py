"""What both sides of a comparison can do: take what a page gave, and hand it out again.

Both get the same Scrapy requests and give Scrapy requests back. They are made before the clock
runs.
"""

from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from bench.workload import Page

DEPTH = 3


class BenchError(Exception):
    """A contestant did not do what it was measured for."""


class Found(NamedTuple):
    """What the spider made of a page."""

    page: Request
    urls: list[str]
    #: Empty where the spider hands over plain links.
    requests: list[Request]


class Contestant(Protocol):
    name: str
    #: Patterns of the keys that are gone when the queue is empty.
    queue_keys: Sequence[str]

    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def find(self, pages: Iterable[Page]) -> list[Found]:
        """What is to be added, made ready."""
        ...

    def add(self, found: Sequence[Found]) -> None: ...

    def take(self, many: int) -> list[Request]:
        """The next requests, this many if there are; the crawl is done with them then."""
        ...

    def queued(self) -> int: ...


class BenchSpider(Spider):
    name = "bench"

    def parse_page(self, response: Response) -> None:
        raise NotImplementedError("nothing is fetched here")


def make_crawler(settings: dict[str, Any]) -> tuple[Crawler, BenchSpider]:
    """With a spider, but without an engine."""
    crawler = get_crawler(BenchSpider, settings)
    spider = BenchSpider.from_crawler(crawler)
    crawler.spider = spider
    return crawler, spider


def plain_requests(page: Page) -> list[Request]:
    """As lean as a Scrapy request can be: default callback, no headers."""
    return [Request(url, meta={"depth": DEPTH}) for url in page.links]


def usual_requests(page: Page, spider: BenchSpider) -> list[Request]:
    """As they come out of Scrapy's own spider middlewares, which set depth and Referer."""
    callback = spider.parse_page
    headers = {"Referer": page.url}
    return [
        Request(url, callback=callback, headers=headers, meta={"depth": DEPTH})
        for url in page.links
    ]
