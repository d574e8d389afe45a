"""Next to the spider: which responses its callbacks get, and which of its requests get lost.

Requests that this process has passed on lately are dropped here, and links that are followed
without requests are taken here.
"""

from collections.abc import AsyncIterator, Iterable
from functools import cached_property
from typing import Any

from pydispatch import dispatcher
from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import Response

from weft.engine.links.hrefs import forget_tree
from weft.engine.requests.follow import FollowAll
from weft.engine.scrapy.middlewares.base import CrawlMiddleware
from weft.engine.scrapy.scrapyparts import ScrapyPart


class CallbackMiddleware(CrawlMiddleware):
    @cached_property
    def _drops_known(self) -> bool:
        is_wanted = ScrapyPart.DUPLICATES not in self._crawl.config.scrapy_parts
        return is_wanted and not _is_watched(self._crawler)

    def process_spider_input(self, response: Response) -> None:
        if not self._has_crawl:
            return
        if response.request and (fate := self._crawl.fates.get(response.request)):
            fate.is_handled = True

    def process_spider_output(self, response: Response, result: Iterable[Any]) -> Iterable[Any]:
        for thing in result:
            if not self._is_taken(thing, response):
                yield thing
                self._watch(thing)
        forget_tree(response)

    async def process_spider_output_async(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        async for thing in result:
            if not self._is_taken(thing, response):
                yield thing
                self._watch(thing)
        forget_tree(response)

    def _is_taken(self, thing: Any, response: Response) -> bool:
        if not self._has_crawl:
            return False
        if isinstance(thing, FollowAll):
            self._crawl.requests.adder.follow(response, thing)
            return True
        return (
            isinstance(thing, Request)
            and self._drops_known
            and self._crawl.requests.adder.is_known(thing)
        )

    def _watch(self, thing: Any) -> None:
        # By now Scrapy's own middlewares have let the request pass, or dropped it.
        if isinstance(thing, Request) and self._has_crawl:
            self._crawl.requests.adder.note_dropped(thing)


def _is_watched(crawler: Crawler) -> bool:
    """Whether the project would miss requests that Scrapy's scheduler would drop: it has its own
    middleware, a signal handler or a statistic for them."""
    middlewares = [
        middleware
        for middleware in crawler.engine.scraper.spidermw.middlewares
        if hasattr(middleware, "process_spider_output")
    ]
    receivers = [
        receiver
        for signal in (signals.request_scheduled, signals.request_dropped)
        for receiver in dispatcher.liveReceivers(dispatcher.getAllReceivers(crawler, signal))
    ]
    return crawler.settings.getbool("DEPTH_STATS_VERBOSE") or any(
        not _module_of(part).startswith(("scrapy.", "weft.")) for part in (*middlewares, *receivers)
    )


def _module_of(part: Any) -> str:
    return str(getattr(part, "__module__", ""))
