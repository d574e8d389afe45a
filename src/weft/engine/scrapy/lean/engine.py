"""Scrapy's engine with one task per request, instead of four tasks and a dozen Deferreds."""

import asyncio
import logging
from typing import Protocol, cast

from scrapy import Request, signals
from scrapy.core.engine import ExecutionEngine
from scrapy.http import Response
from scrapy.utils.log import logformatter_adapter
from twisted.python.failure import Failure

from weft.engine.scrapy.compat import EngineSlot
from weft.engine.scrapy.lean.scraper import LeanScraper

logger = logging.getLogger(ExecutionEngine.__module__)


class Downloads(Protocol):
    """The part of `Downloader` that is needed here."""

    async def download(self, request: Request) -> Response | Request: ...


# A task that nothing refers to may be garbage-collected.
_tasks: set[asyncio.Task[None]] = set()


class LeanEngine(ExecutionEngine):
    def _start_scheduled_request(self) -> bool:
        slot = self._slot
        assert slot is not None
        request = slot.scheduler.next_request()
        if request is None:
            self.signals.send_catch_log(signals.scheduler_empty)
            return False
        # At once: the engine asks next whether there is room for more.
        slot.add_request(request)
        self.downloader.active.add(request)
        task = asyncio.ensure_future(self._work_on(request, slot))
        _tasks.add(task)
        task.add_done_callback(_tasks.discard)
        return True

    async def _work_on(self, request: Request, slot: EngineSlot) -> None:
        """Work on a request from the scheduler until its items are done."""
        try:
            result = await self._fetch(request, slot)
            if isinstance(result, Request):
                self._replace_by(result)
            else:
                await cast(LeanScraper, self.scraper).scrape(result, request)
        except Exception:
            self._tell(logging.ERROR, "Error while enqueuing scrape")
        finally:
            self._remove(request, slot)
            slot.nextcall.schedule()

    def _replace_by(self, request: Request) -> None:
        try:
            self.crawl(request)
        except Exception:
            self._tell(logging.INFO, "Error while handling downloader output")

    def _remove(self, request: Request, slot: EngineSlot) -> None:
        try:
            slot.remove_request(request)
        except Exception:
            self._tell(logging.INFO, "Error while removing request from slot")

    def _tell(self, level: int, message: str) -> None:
        """Log what has gone wrong, as Scrapy does."""
        logger.log(level, message, exc_info=True, extra={"spider": self.spider})

    async def _fetch(self, request: Request, slot: EngineSlot) -> Response | Request | Failure:
        try:
            result = await cast(Downloads, self.downloader).download(request)
            if isinstance(result, Response):
                self._note_response(result, request)
            return result
        except Exception:
            return Failure()  # type: ignore[no-untyped-call]
        finally:
            slot.nextcall.schedule()

    def _note_response(self, response: Response, request: Request) -> None:
        if response.request is None:
            response.request = request
        assert self.spider is not None
        told = self.logformatter.crawled(response.request, response, self.spider)
        if told is not None:
            logger.log(*logformatter_adapter(told), extra={"spider": self.spider})
        self.signals.send_catch_log(
            signal=signals.response_received,
            response=response,
            request=response.request,
            spider=self.spider,
        )
