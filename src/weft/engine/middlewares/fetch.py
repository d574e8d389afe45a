"""Next to the network: the last gate before sending, and the first to see what came back."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Self

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.robotstxt import RobotParser

from weft.engine.outcome import describe
from weft.engine.scheduler import scheduler_of
from weft.urls import host_key

#: Hosts whose Crawl-delay is remembered in this process.
MAX_HOSTS = 10_000


class FetchMiddleware:
    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._crawl_delays_s: dict[str, float] = {}
        crawler.signals.connect(self._note_robots, signals.robots_parsed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_request(self, request: Request) -> Coroutine[Any, Any, None] | None:
        scheduler = scheduler_of(self._crawler)
        fate = scheduler.fates.get(request)
        host = fate.claim.request.host if fate else host_key(request.url)
        delay_s = scheduler.config.limits_of(host).delay_ms / 1000
        crawl_delay_s = self._crawl_delays_s.get(host, 0.0)
        if fate:
            fate.crawl_delay_ms = round(crawl_delay_s * 1000)
            delay_s = max(delay_s, fate.claim.delay_ms / 1000)
        wait_s = scheduler.gate.wait_s(host, max(delay_s, crawl_delay_s))
        return asyncio.sleep(wait_s) if wait_s else None

    def process_response(self, request: Request, response: Response) -> Response:
        scheduler = scheduler_of(self._crawler)
        scheduler.fates.note_fetched(request, response)
        # How long ago Scrapy began to send it.
        latency_s = request.meta.get("download_latency")
        if latency_s is not None:
            scheduler.gate.note_sent(host_key(request.url), latency_s)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        if fate := scheduler_of(self._crawler).fates.get(request):
            fate.fetch_error = describe(exception)

    def _note_robots(self, robotparser: RobotParser, request: Request) -> None:
        settings = self._crawler.settings
        agent = settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"]
        if delay_s := robotparser.crawl_delay(agent):
            if len(self._crawl_delays_s) >= MAX_HOSTS:
                self._crawl_delays_s.clear()  # the frontier has them
            self._crawl_delays_s[host_key(request.url)] = delay_s
