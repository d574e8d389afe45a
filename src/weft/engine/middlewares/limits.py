"""Between Scrapy's downloader and the spiders: pages that no parser could bear.

`weft crawl URL` looks at its pages itself, and `weft.LinkExtractor` takes another parser for what
is too much for its own. What is left here is too much for Scrapy's selectors, too.
"""

from functools import cached_property
from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Response

from weft.engine.markup import PageLimits, find_long_tag
from weft.engine.scheduler import scheduler_of
from weft.engine.spider import SiteSpider


class LimitsMiddleware:
    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    @cached_property
    def _limits(self) -> PageLimits:
        return scheduler_of(self._crawler).config.page_limits

    @cached_property
    def _is_wanted(self) -> bool:
        return not isinstance(self._crawler.spider, SiteSpider)

    def process_response(self, request: Request, response: Response) -> Response:
        is_page = self._is_wanted and isinstance(response, HtmlResponse)
        if is_page and (excess := find_long_tag(response.body, self._limits)):
            self._crawler.stats.inc_value(f"pages/refused/{excess.limit}")
            raise IgnoreRequest(excess.reason)
        return response
