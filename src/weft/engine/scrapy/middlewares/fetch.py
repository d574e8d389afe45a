"""Next to the network: the last gate before sending, and the first to see what came back."""

import logging
from collections.abc import Coroutine
from functools import cached_property
from typing import Any

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.robotstxt import RobotParser

from weft.engine.claims.fates import Fates
from weft.engine.claims.observer import Observer
from weft.engine.claims.outcome import describe
from weft.engine.politeness.sender import Sender, abandon
from weft.engine.politeness.wishes import HostWishes
from weft.engine.scrapy.answers import drop_bad_location
from weft.engine.scrapy.middlewares.base import CrawlMiddleware

logger = logging.getLogger(__name__)


class FetchMiddleware(CrawlMiddleware):
    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        crawler.signals.connect(self._note_robots, signals.robots_parsed)

    @cached_property
    def _fates(self) -> Fates:
        return self._crawl.fates

    @cached_property
    def _observer(self) -> Observer:
        return self._crawl.observer

    @cached_property
    def _sender(self) -> Sender:
        return self._crawl.sender

    @cached_property
    def _wishes(self) -> HostWishes:
        return self._crawl.wishes

    def process_request(self, request: Request) -> Coroutine[Any, Any, Request | None] | None:
        if not self._has_crawl:
            return None
        return self._sender.let_pass(request, self._fates.get(request))

    def process_response(self, request: Request, response: Response) -> Response:
        if not self._has_crawl:
            return response
        fate = self._fates.get(request)
        retry_after_ms = self._observer.note_fetched(request, response)
        self._wishes.note_answer(request, fate, response, retry_after_ms)
        if problem := drop_bad_location(response, request.url):
            logger.info("%s %s", request.url, problem)
            if fate:
                fate.fetch_error = problem
        return response

    def process_exception(self, request: Request, exception: Exception) -> Request | None:
        fate = self._fates.get(request) if self._has_crawl else None
        if fate is None:
            return None
        fate.fetch_error = describe(exception)
        return abandon(request, fate) if self._sender.has_cut else None

    def _note_robots(self, robotparser: RobotParser, request: Request) -> None:
        settings = self._crawler.settings
        agent = settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"]
        delay_s = robotparser.crawl_delay(agent)
        if delay_s is not None and delay_s > 0:
            self._wishes.note_crawl_delay(request, self._fates.get(request), delay_s)
