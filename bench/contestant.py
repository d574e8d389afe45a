"""The interface of both sides of a comparison: take the links of a page, and return requests.

Both get the same Scrapy requests and return Scrapy requests. They are made before the clock starts.
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
    """A contestant did not do the work that was measured."""


class Found(NamedTuple):
    """What the spider made of a page."""

    page: Request
    urls: list[str]
    #: Empty if the spider yields plain links.
    requests: list[Request]


class Contestant(Protocol):
    name: str
    #: Patterns of the keys that disappear when the queue is empty.
    queue_keys: Sequence[str]

    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def find(self, pages: Iterable[Page]) -> list[Found]:
        """Prepare what will be added."""
        ...

    def add(self, found: Sequence[Found]) -> None: ...

    def take(self, many: int) -> list[Request]:
        """The next requests, up to `many`; they are then done."""
        ...

    def queued(self) -> int: ...


class BenchSpider(Spider):
    name = "bench"

    def parse_page(self, response: Response) -> None:
        raise NotImplementedError("nothing is fetched here")


def make_crawler(settings: dict[str, Any]) -> tuple[Crawler, BenchSpider]:
    """Make a crawler with a spider, but without an engine."""
    crawler = get_crawler(BenchSpider, settings)
    spider = BenchSpider.from_crawler(crawler)
    crawler.spider = spider
    return crawler, spider


def plain_requests(page: Page) -> list[Request]:
    """As small as a Scrapy request can be: default callback, no headers."""
    return [Request(url, meta={"depth": DEPTH}) for url in page.links]


def usual_requests(page: Page, spider: BenchSpider) -> list[Request]:
    """As after Scrapy's own spider middlewares, which set depth and Referer."""
    callback = spider.parse_page
    headers = {"Referer": page.url}
    return [
        Request(url, callback=callback, headers=headers, meta={"depth": DEPTH})
        for url in page.links
    ]
