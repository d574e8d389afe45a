"""Next to the engine: counts what a page gives as it leaves the spider, and marks its starts."""

from collections.abc import AsyncIterator, Iterable
from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from weft.engine.places import Place
from weft.engine.scheduler import Scheduler, scheduler_of


class PlaceMiddleware:
    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        number = 0
        async for thing in start:
            if isinstance(thing, Request):
                scheduler_of(self._crawler).intake.starts.add(thing)
            else:
                scheduler_of(self._crawler).places.put(thing, Place(0, number))
                number += 1
            yield thing

    def process_spider_output(self, response: Response, result: Iterable[Any]) -> Iterable[Any]:
        counter = _Counter(scheduler_of(self._crawler), response)
        for thing in result:
            counter.mark(thing)
            yield thing

    async def process_spider_output_async(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        counter = _Counter(scheduler_of(self._crawler), response)
        async for thing in result:
            counter.mark(thing)
            yield thing


class _Counter:
    """Items and requests of a page are counted apart."""

    def __init__(self, scheduler: Scheduler, response: Response) -> None:
        self._scheduler = scheduler
        self._page = scheduler.intake.page_of(response.request) if response.request else 0
        self._items = 0
        self._requests = 0

    def mark(self, thing: Any) -> None:
        if isinstance(thing, Request):
            self._scheduler.intake.found_at[thing] = Place(self._page, self._requests)
            self._requests += 1
        elif thing is not None:
            self._scheduler.places.put(thing, Place(self._page, self._items))
            self._items += 1
