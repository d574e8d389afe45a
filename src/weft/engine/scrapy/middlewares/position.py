"""Next to the engine: counts what a page yields as it leaves the spider, and marks starts."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from typing import Any

from scrapy import Request
from scrapy.http import Response

from weft.engine.requests.follow import FollowAll
from weft.engine.requests.positions import Position
from weft.engine.scrapy.middlewares.base import CrawlMiddleware

#: Scrapy sends the first request of `start` before it asks for the second, whatever their
#: priorities. So `start` waits until the frontier has handed out a request, but not for long: the
#: first may be known, or another worker's.
FIRST_S = 0.25


class PositionMiddleware(CrawlMiddleware):
    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        if not self._has_crawl:
            async for thing in start:
                yield thing
            return
        crawl = self._crawl  # now: `start` may close it, and go on
        number = 0
        is_first = True
        try:
            async for thing in start:
                if isinstance(thing, FollowAll):
                    raise TypeError("FollowAll is for the links of a page; start() yields requests")
                if not isinstance(thing, Request):
                    crawl.positions.put(thing, Position(0, number))
                    number += 1
                    yield thing
                    continue
                crawl.requests.intake.starts.add(thing)
                yield thing
                if is_first:
                    is_first = False
                    await _wait_briefly(crawl.requests.source.has_served)
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


async def _wait_briefly(event: asyncio.Event) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(FIRST_S):
            await event.wait()


def _leave_alone(thing: Any) -> None:
    """Where there is no crawl."""
