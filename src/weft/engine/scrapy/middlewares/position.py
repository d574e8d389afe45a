"""Next to the engine: counts what a page yields as it leaves the spider, and marks starts."""

from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

from scrapy import Request
from scrapy.http import Response

from weft.engine.requests.follow import FollowAll
from weft.engine.requests.positions import Position
from weft.engine.scrapy.middlewares.base import CrawlMiddleware


class PositionMiddleware(CrawlMiddleware):
    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        if not self._has_crawl:
            async for thing in start:
                yield thing
            return
        crawl = self._crawl  # now: `start` may close it, and go on
        number = 0
        try:
            async for thing in start:
                if isinstance(thing, FollowAll):
                    raise TypeError("FollowAll is for the links of a page; start() yields requests")
                if isinstance(thing, Request):
                    crawl.requests.intake.starts.add(thing)
                else:
                    crawl.positions.put(thing, Position(0, number))
                    number += 1
                yield thing
        finally:
            if crawl.is_open:
                crawl.requests.kept_starts.are_complete = True

    def process_spider_output(self, response: Response, result: Iterable[Any]) -> Iterable[Any]:
        mark = self._marker(response)
        for thing in result:
            mark(thing)
            yield thing

    async def process_spider_output_async(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        mark = self._marker(response)
        async for thing in result:
            mark(thing)
            yield thing

    def _marker(self, response: Response) -> Callable[[Any], None]:
        if not self._has_crawl:
            return _leave_alone
        return self._crawl.count_output(response.request).mark


def _leave_alone(thing: Any) -> None:
    """Where there is no crawl."""
