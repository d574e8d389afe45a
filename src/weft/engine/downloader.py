"""Scrapy's downloader without politeness of its own: the frontier and the gate see to that.

It also notes what each request ends with: whatever the middlewares did, it is known here.
"""

import sys
from functools import cached_property
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.core.downloader import Downloader as ScrapyDownloader
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.defer import _process_pending_io, deferred_from_coro
from twisted.internet.defer import Deferred

from weft.engine.closing import Closing
from weft.engine.scheduler import Scheduler, scheduler_of


class Downloader(ScrapyDownloader):
    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.domain_concurrency = sys.maxsize
        self.ip_concurrency = 0
        self.per_slot_settings = {}
        self._delay = 0.0
        # Scrapy's slots are where AutoThrottle acts; nothing else needs them here.
        self._has_slots = crawler.settings.getbool("AUTOTHROTTLE_ENABLED")

    @cached_property
    def _scheduler(self) -> Scheduler:
        return scheduler_of(self.crawler)

    @cached_property
    def _closing(self) -> Closing:
        return self._scheduler.closing

    def fetch(self, request: Request, spider: Spider | None = None) -> Deferred[Any]:
        return deferred_from_coro(self.download(request))

    async def download(self, request: Request) -> Response | Request:
        """The response; or, if a middleware says so, the request that replaces this one."""
        self.active.add(request)
        try:
            result = await self.middleware.download_async(self._enqueue_request, request)
        except Exception as error:
            self._scheduler.fates.note_error(request, error)
            raise
        finally:
            self.active.remove(request)
        self._scheduler.fates.note_result(request, result)
        return result

    async def _enqueue_request(self, request: Request) -> Response:
        send = super()._enqueue_request if self._has_slots else self._send
        try:
            return await self._closing.cut_short(send(request))
        finally:
            self._scheduler.note_left_downloader(request)

    async def _send(self, request: Request) -> Response:
        """What Scrapy's slots do, without waiting in one."""
        request.meta[self.DOWNLOAD_SLOT] = self.get_slot_key(request)
        spider = self.crawler.spider
        send = self.signals.send_catch_log
        send(signals.request_reached_downloader, request=request, spider=spider)
        try:
            response = await self.handlers.download_request_async(request)
            send(signals.response_downloaded, response=response, request=request, spider=spider)
            return response
        except Exception:
            await _process_pending_io()
            raise
        finally:
            send(signals.request_left_downloader, request=request, spider=spider)
