"""Next to the network: the last gate before sending, and the first to see what came back."""

import asyncio
import logging
from collections.abc import Coroutine
from functools import cached_property
from typing import Any, Self

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.robotstxt import RobotParser

from weft.engine.answers import drop_bad_location
from weft.engine.gate import LOOK_S, Limits, Turn
from weft.engine.outcome import Fate, describe
from weft.engine.scheduler import Scheduler, scheduler_of
from weft.errors import StoreError
from weft.frontier.policy import OVERLOADED
from weft.records import Claim
from weft.urls import host_key

logger = logging.getLogger(__name__)

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

    @cached_property
    def _scheduler(self) -> Scheduler:
        return scheduler_of(self._crawler)

    def process_request(self, request: Request) -> Coroutine[Any, Any, Request | None] | None:
        scheduler = self._scheduler
        fate = scheduler.fates.get(request)
        if fate is None:
            return self._pass_side(request)
        host = scheduler.keys.key(fate.claim.request.host)
        limits = self._limits(host, fate)
        if (
            scheduler.may_send(fate.claim)
            and scheduler.visits.is_free(host)
            and scheduler.gate.try_pass(request, host, limits)
        ):
            fate.is_sent = True
            return None
        return self._pass_claim(request, fate, host, limits)

    def _limits(self, host: str, fate: Fate | None) -> Limits:
        limits = self._scheduler.config.limits_of(host)
        delay_s = limits.delay_ms / 1000
        crawl_delay_s = self._crawl_delays_s.get(host, 0.0)
        if fate:
            fate.crawl_delay_ms = round(crawl_delay_s * 1000)
            delay_s = max(delay_s, fate.claim.delay_ms / 1000)
        return Limits(max(delay_s, crawl_delay_s), limits.concurrency)

    async def _pass_claim(
        self, request: Request, fate: Fate, host: str, limits: Limits
    ) -> Request | None:
        turn = self._scheduler.visits.claim_turn(request, host)
        if await self._pass_gate(request, fate.claim, host, limits, turn):
            fate.is_sent = True
            return None
        return _abandon(request, fate)

    async def _pass_side(self, request: Request) -> None:
        if request.url in request.meta.get("redirect_urls", ()):
            raise IgnoreRequest("redirected in a circle")  # of other requests the frontier knows it
        host = await self._find_key(request)
        limits = self._limits(host, None)
        with self._scheduler.visits.side_turn(request, host) as turn:
            while not await self._pass_gate(request, None, host, limits, turn):
                if not await self._scheduler.may_send_soon(None):
                    raise IgnoreRequest("the crawl is being closed")
                # Not in line before the gate: claims stand there, which must be given back.
                pause_s = self._scheduler.gate.pause_left_s(host)
                await asyncio.sleep(min(LOOK_S, pause_s))

    async def _find_key(self, request: Request) -> str:
        name = host_key(request.url)
        try:
            return await self._scheduler.keys.find(name)
        except StoreError:  # the crawl is ending for that; this request waits like all others
            return self._scheduler.keys.key(name)

    async def _pass_gate(
        self, request: Request, claim: Claim | None, host: str, limits: Limits, turn: Turn
    ) -> bool:
        scheduler = self._scheduler

        async def may_send() -> bool:
            return not scheduler.gate.pause_left_s(host) and await scheduler.may_send_soon(claim)

        return await scheduler.gate.wait(request, host, limits, turn, may_send)

    def process_response(self, request: Request, response: Response) -> Response:
        scheduler = self._scheduler
        host = self._key_of(request)
        fate = scheduler.fates.get(request)
        if (fate is None or response.status in OVERLOADED) and "cached" not in response.flags:
            self._note_answer(host, fate, response)
        scheduler.fates.note_fetched(request, response)
        if problem := drop_bad_location(response, request.url):
            logger.info("%s %s", request.url, problem)
            if fate:
                fate.fetch_error = problem
        # How long ago Scrapy began to send it.
        latency_s = request.meta.get("download_latency")
        if latency_s is not None:
            scheduler.gate.note_sent(host, latency_s)
        return response

    def _note_answer(self, host: str, fate: Fate | None, response: Response) -> None:
        """What it says about its host. That of a claim is told with its outcome."""
        scheduler = self._scheduler
        retry_after_ms = scheduler.fates.retry_after_ms(response)
        if response.status in OVERLOADED:
            scheduler.note_overloaded(host, retry_after_ms)
        if fate is None:
            scheduler.visits.note_answer(host, response.status, retry_after_ms)

    def _key_of(self, request: Request) -> str:
        """The host key of a request that was sent."""
        fate = self._scheduler.fates.get(request)
        name = fate.claim.request.host if fate else host_key(request.url)
        return self._scheduler.keys.key(name)

    def process_exception(self, request: Request, exception: Exception) -> Request | None:
        scheduler = self._scheduler
        fate = scheduler.fates.get(request)
        if fate is None:
            return None
        fate.fetch_error = describe(exception)
        is_cut = scheduler.stops.has_cut or scheduler.closing.is_over
        return _abandon(request, fate) if is_cut else None

    def _note_robots(self, robotparser: RobotParser, request: Request) -> None:
        settings = self._crawler.settings
        agent = settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"]
        delay_s = robotparser.crawl_delay(agent)
        if delay_s is not None and delay_s > 0:
            # As the frontier does: nobody waits for a day because a robots.txt says so.
            delay_s = min(delay_s, self._scheduler.config.frontier.max_pause_ms / 1000)
            if len(self._crawl_delays_s) >= MAX_HOSTS:
                self._crawl_delays_s.clear()  # the frontier has them
            # Of several hosts with one host key, all get the longest.
            key = self._key_of(request)
            self._crawl_delays_s[key] = max(delay_s, self._crawl_delays_s.get(key, 0.0))
            crawl_delay_ms = round(self._crawl_delays_s[key] * 1000)
            self._scheduler.visits.note_crawl_delay(key, crawl_delay_ms)


def _abandon(request: Request, fate: Fate) -> Request:
    """Let go of a request without an error, of which the spider would hear: it might make an item
    of it, where the page is another worker's now. So it is replaced by a request that the scheduler
    does not take."""
    fate.is_abandoned = True
    return request.copy()
