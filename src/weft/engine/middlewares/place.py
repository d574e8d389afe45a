"""Next to the engine: counts what a page gives as it leaves the spider, and marks its starts."""

from collections.abc import AsyncIterator, Iterable
from functools import cached_property
from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from weft.engine.follow import FollowAll
from weft.engine.outcome import Given
from weft.engine.places import Place
from weft.engine.scheduler import Scheduler, scheduler_of


class PlaceMiddleware:
    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    @cached_property
    def _scheduler(self) -> Scheduler:
        return scheduler_of(self._crawler)

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        number = 0
        async for thing in start:
            if isinstance(thing, FollowAll):
                raise TypeError("FollowAll is for the links of a page; start() yields requests")
            if isinstance(thing, Request):
                self._scheduler.intake.starts.add(thing)
            else:
                self._scheduler.places.put(thing, Place(0, number))
                number += 1
            yield thing

    def process_spider_output(self, response: Response, result: Iterable[Any]) -> Iterable[Any]:
        counter = _Counter(self._scheduler, response)
        for thing in result:
            counter.mark(thing)
            yield thing

    async def process_spider_output_async(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        counter = _Counter(self._scheduler, response)
        async for thing in result:
            counter.mark(thing)
            yield thing


class _Counter:
    """Items and requests of a page are counted apart.

    They may come in several goes: what a middleware makes of an exception comes after the rest.
    """

    def __init__(self, scheduler: Scheduler, response: Response) -> None:
        request = response.request
        fate = scheduler.fates.get(request) if request else None
        self._scheduler = scheduler
        self._given = fate.given if fate else Given()
        self._page = scheduler.intake.page_of(request) if request else 0

    def mark(self, thing: Any) -> None:
        if isinstance(thing, Request):
            self._scheduler.intake.found_at[thing] = Place(self._page, self._given.requests)
            self._given.requests += 1
        elif thing is not None:
            self._scheduler.places.put(thing, Place(self._page, self._given.items))
            self._given.items += 1
