"""Handles what a callback yields, without a hundred tasks for each response."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from typing import Any

from scrapy import Request
from scrapy.core.scraper import Scraper
from scrapy.http import Response
from scrapy.pipelines import ItemPipelineManager
from scrapy.utils.defer import aiter_errback, iter_errback
from twisted.python.failure import Failure

logger = logging.getLogger(Scraper.__module__)

#: After this many items and requests of one response, other tasks may run.
LONG = 100


class LeanScraper(Scraper):
    async def scrape(self, result: Response | Failure, request: Request) -> None:
        """Call the spider, and handle what it yields."""
        slot = self.slot
        assert slot is not None
        slot.active.add(request)
        slot.active_size += _size_of(result, slot.MIN_RESPONSE_SIZE)
        try:
            await self._scrape(result, request)
        except Exception:
            logger.error(
                "Scraper bug processing %(request)s",
                {"request": request},
                exc_info=True,
                extra={"spider": self.crawler.spider},
            )
        finally:
            slot.finish_response(result, request)
            self._check_if_closing()

    async def handle_spider_output_async(
        self,
        result: Iterable[Any] | AsyncIterator[Any],
        request: Request,
        response: Response | Failure,
    ) -> None:
        """Requests are queued in order; items are processed concurrently, as many at a time as
        CONCURRENT_ITEMS allows."""
        output = _Output(self, request, response)
        if isinstance(result, AsyncIterator):
            async for thing in aiter_errback(result, self.handle_spider_error, request, response):
                await output.handle(thing)
        else:
            things = iter_errback(result, self.handle_spider_error, request, response)
            for number, thing in enumerate(things, start=1):
                await output.handle(thing)
                if not number % LONG:
                    await asyncio.sleep(0)
        await output.end()


class _Output:
    """The output of one response: requests, and items on their way through the pipelines."""

    def __init__(
        self, scraper: LeanScraper, request: Request, response: Response | Failure
    ) -> None:
        self._scraper = scraper
        self._request = request
        self._response = response
        self._tasks: set[asyncio.Task[None]] = set()
        # What an errback yields after a failed download passes no spider middleware.
        self._mark = self._make_marker() if isinstance(response, Failure) else None

    def _make_marker(self) -> Callable[[Any], None] | None:
        from weft.engine.scrapy.scheduler import find_crawl  # here, for it imports us

        crawl = find_crawl(self._scraper.crawler)
        return crawl.count_output(self._request).mark if crawl else None

    async def handle(self, thing: Any) -> None:
        """An error affects only this thing, and is reported as if the callback had raised it."""
        try:
            if isinstance(thing, Request):
                if self._mark is not None:
                    self._mark(thing)
                self._scraper.crawler.engine.crawl(thing)
            elif thing is not None:
                await self._begin(thing)
        except Exception:
            self._tell()

    async def _begin(self, item: Any) -> None:
        process = self._scraper.start_itemproc_async(item, response=self._response)
        if not has_pipelines(self._scraper.itemproc):
            await process  # there is nothing to wait for
            return
        if len(self._tasks) >= self._scraper.concurrent_items:
            _, self._tasks = await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        self._tasks.add(asyncio.ensure_future(self._to_its_end(process)))

    async def _to_its_end(self, process: Coroutine[Any, Any, None]) -> None:
        try:
            await process
        except Exception:
            self._tell()

    def _tell(self) -> None:
        failure = Failure()  # type: ignore[no-untyped-call]
        self._scraper.handle_spider_error(failure, self._request, self._response)

    async def end(self) -> None:
        if self._tasks:
            await asyncio.wait(self._tasks)


def has_pipelines(processor: object) -> bool:
    """Whether it does something with items; a processor of the project's own may."""
    return type(processor) is not ItemPipelineManager or bool(processor.methods["process_item"])


def _size_of(result: Response | Failure, least: int) -> int:
    return max(len(result.body), least) if isinstance(result, Response) else least
