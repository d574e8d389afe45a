"""What the middlewares share: Scrapy makes them before there is a crawl, which they find later.

A project's tests may use Scrapy's middleware managers without any crawl. Then there is nothing to
note, and the middlewares let everything pass.
"""

from functools import cached_property
from typing import Self

from scrapy.crawler import Crawler

from weft.engine.crawl import Crawl
from weft.engine.scrapy.scheduler import crawl_of, find_crawl


class CrawlMiddleware:
    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    @cached_property
    def _has_crawl(self) -> bool:
        return find_crawl(self._crawler) is not None

    @cached_property
    def _crawl(self) -> Crawl:
        return crawl_of(self._crawler)
