"""Next to the engine: counts the items of a page as they leave the spider, and marks its starts."""

from collections.abc import AsyncIterator, Iterable
from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from weft.engine.places import Place
from weft.engine.scheduler import scheduler_of


class PlaceMiddleware:
    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for thing in start:
            if isinstance(thing, Request):
                scheduler_of(self._crawler).starts.add(thing)
            yield thing

    def process_spider_output(self, response: Response, result: Iterable[Any]) -> Iterable[Any]:
        number = 0
        for thing in result:
            number = self._mark(thing, response, number)
            yield thing

    async def process_spider_output_async(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        number = 0
        async for thing in result:
            number = self._mark(thing, response, number)
            yield thing

    def _mark(self, thing: Any, response: Response, number: int) -> int:
        if thing is None or isinstance(thing, Request):
            return number
        scheduler = scheduler_of(self._crawler)
        page = scheduler.page_of(response.request) if response.request else 0
        scheduler.places.put(thing, Place(page, number))
        return number + 1
