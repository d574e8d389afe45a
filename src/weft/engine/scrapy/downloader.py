"""Scrapy's downloader without its own politeness: the frontier and the gate take care of that.

Its slots say what is being downloaded, and nothing waits in them.

It also notes the result of each request, which is known here whatever the middlewares did.
"""

from functools import cached_property
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.core.downloader import Downloader as ScrapyDownloader
from scrapy.core.downloader import Slot
from scrapy.http import Response
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.defer import Deferred

from weft.clock import monotonic_s
from weft.engine.browser.handler import WANTS_BROWSER, BrowserHandler
from weft.engine.claims.fates import Fates
from weft.engine.claims.observer import Observer
from weft.engine.politeness.closing import Closing
from weft.engine.politeness.sender import Sender
from weft.engine.requests.slots import SLOT, NotedSlot, slot_of
from weft.engine.scrapy.compat import process_pending_io
from weft.engine.scrapy.scheduler import crawl_of


class Downloader(ScrapyDownloader):
    @cached_property
    def _fates(self) -> Fates:
        return crawl_of(self.crawler).fates

    @cached_property
    def _observer(self) -> Observer:
        return crawl_of(self.crawler).observer

    @cached_property
    def _sender(self) -> Sender:
        return crawl_of(self.crawler).sender

    @cached_property
    def _browser(self) -> BrowserHandler:
        crawl = crawl_of(self.crawler)
        return BrowserHandler(self.crawler, crawl.config.browser, crawl.sender.hold_s)

    @cached_property
    def _closing(self) -> Closing:
        return crawl_of(self.crawler).closing

    def fetch(self, request: Request, spider: Spider | None = None) -> Deferred[Any]:
        return deferred_from_coro(self.download(request))

    async def download(self, request: Request) -> Response | Request:
        """The response; or, if a middleware says so, the request that replaces this one."""
        self.active.add(request)
        try:
            result = await self.middleware.download_async(self._enqueue_request, request)
        except Exception as error:
            self._observer.note_error(request, error)
            raise
        finally:
            self.active.remove(request)
        self._observer.note_result(request, result)
        return result

    def get_slot_key(self, request: Request) -> str:
        return slot_of(request) or urlparse_cached(request).hostname or ""

    async def _enqueue_request(self, request: Request) -> Response:
        try:
            return await self._closing.cut_short(self._send(request))
        finally:
            self._sender.leave(request)
            self._fates.leave_downloader(request)

    def _enter_slot(self, request: Request) -> Slot:
        key, slot = self._get_slot(request)
        request.meta[SLOT] = key if slot_of(request) else NotedSlot(key)
        slot.active.add(request)
        slot.transferring.add(request)
        slot.lastseen = monotonic_s()
        return slot

    async def _send(self, request: Request) -> Response:
        """Do what Scrapy's slots do, without waiting in one."""
        slot = self._enter_slot(request)
        spider = self.crawler.spider
        send = self.signals.send_catch_log
        send(signals.request_reached_downloader, request=request, spider=spider)
        try:
            fetch = self._browser.download_request if request.meta.get(WANTS_BROWSER) else None
            response = await (fetch or self.handlers.download_request_async)(request)
            send(signals.response_downloaded, response=response, request=request, spider=spider)
            return response
        except Exception:
            await process_pending_io()
            raise
        finally:
            slot.transferring.remove(request)
            slot.active.remove(request)
            send(signals.request_left_downloader, request=request, spider=spider)
