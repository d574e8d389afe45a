"""Next to the spider: which responses its callbacks get, and which of its requests get lost."""

from collections.abc import AsyncIterator, Iterable
from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from weft.engine.scheduler import scheduler_of


class CallbackMiddleware:
    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._depth_limit = crawler.settings.getint("DEPTH_LIMIT")
        self._length_limit = crawler.settings.getint("URLLENGTH_LIMIT")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_spider_input(self, response: Response) -> None:
        scheduler = scheduler_of(self._crawler)
        if response.request and (fate := scheduler.fates.get(response.request)):
            fate.is_handled = True

    def process_spider_output(self, response: Response, result: Iterable[Any]) -> Iterable[Any]:
        for thing in result:
            yield thing
            self._watch(thing)

    async def process_spider_output_async(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        async for thing in result:
            yield thing
            self._watch(thing)

    def _watch(self, thing: Any) -> None:
        # By now Scrapy's own middlewares have let the request pass, or dropped it.
        if isinstance(thing, Request) and (rule := self._dropped_by(thing)):
            scheduler_of(self._crawler).drop(thing.url, rule)

    def _dropped_by(self, request: Request) -> str:
        if 0 < self._depth_limit < request.meta.get("depth", 0):
            return f"deeper than DEPTH_LIMIT {self._depth_limit}"
        if 0 < self._length_limit < len(request.url):
            return f"longer than URLLENGTH_LIMIT {self._length_limit}"
        return ""
