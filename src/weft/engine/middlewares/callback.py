"""Next to the spider: which responses its callbacks get, and which of its requests get lost.

Requests that this process has passed on lately end here already, and links that are followed
without requests are taken here.
"""

from collections.abc import AsyncIterator, Iterable
from functools import cached_property
from typing import Any, Self

from pydispatch import dispatcher
from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import Response

from weft.engine.follow import FollowAll
from weft.engine.links import forget_tree
from weft.engine.scheduler import Scheduler, scheduler_of
from weft.engine.scrapyparts import ScrapyPart


class CallbackMiddleware:
    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    @cached_property
    def _scheduler(self) -> Scheduler:
        return scheduler_of(self._crawler)

    @cached_property
    def _drops_known(self) -> bool:
        is_wanted = ScrapyPart.DUPLICATES not in self._scheduler.config.scrapy_parts
        return is_wanted and not _is_watched(self._crawler)

    def process_spider_input(self, response: Response) -> None:
        if response.request and (fate := self._scheduler.fates.get(response.request)):
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
        if isinstance(thing, FollowAll):
            self._scheduler.follow(response, thing)
            return True
        return isinstance(thing, Request) and self._drops_known and self._scheduler.is_known(thing)

    def _watch(self, thing: Any) -> None:
        # By now Scrapy's own middlewares have let the request pass, or dropped it.
        if isinstance(thing, Request):
            rules = self._scheduler.rules
            if rule := rules.dropped_by(thing.url, thing.meta.get("depth", 0)):
                self._scheduler.drop(thing.url, rule)


def _is_watched(crawler: Crawler) -> bool:
    """Whether the project would miss requests that Scrapy's scheduler would drop: a middleware of
    its own, a signal, a statistic."""
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
