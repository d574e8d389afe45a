"""The scheduler of a Scrapy crawl, on a frontier.

Scrapy calls it synchronously and it answers from memory: what it is given goes into the buffer,
what it gives comes out of it. It owns the job's frontier and sinks from `open` to `close`.
"""

import asyncio
import logging
import os
import socket
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from typing import Self, cast

from scrapy import Request, Spider, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import Deferred

from weft.clock import SystemClock
from weft.engine.buffer import Buffer
from weft.engine.fates import Fates
from weft.engine.fingerprint import Fingerprinter
from weft.engine.gate import Gate
from weft.engine.held import HeldRequests
from weft.engine.intake import Intake
from weft.engine.jobfile import JobFile
from weft.engine.outcome import Fate
from weft.engine.pack import Packer
from weft.engine.places import Places
from weft.engine.recent import RecentSet
from weft.engine.settings import read_settings
from weft.engine.timers import TimerSweep
from weft.errors import EngineError, PackError, WeftError
from weft.frontier import Frontier, RocksFrontier
from weft.records import Claim, Ending, PackedRequest
from weft.sinks import KeyedItem, Sink, make_sink
from weft.urls import fingerprint, host_key

logger = logging.getLogger(__name__)

#: Fingerprints of links that this process has passed on lately.
RECENT = 50_000


class Scheduler(BaseScheduler):
    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._stats = crawler.stats
        self._clock = SystemClock()
        self._held = HeldRequests(crawler)
        self._timers = TimerSweep()
        self._stack = AsyncExitStack()
        self._recent = RecentSet(RECENT)
        self._closing: asyncio.Future[None] | None = None
        self._buffer: Buffer | None = None
        self.gate = Gate()
        self.places = Places()
        #: Pages that were fetched and handled in this run.
        self.pages = 0
        #: What failed in this run, by kind.
        self.failures: Counter[str] = Counter()
        #: Requests that a rule refused in this run.
        self.refused = 0
        self.error: WeftError | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    # Opening and closing

    def open(self, spider: Spider) -> Deferred[None]:
        return deferred_from_coro(self._open(spider))

    async def _open(self, spider: Spider) -> None:
        self._held.check()
        self._crawler.signals.connect(self._close_at_once, signals.spider_opened)
        try:
            self.config = read_settings(self._crawler.settings, spider.name)
            self._job = JobFile(self.config.job_dir)
            self._packer = Packer(spider)
            fingerprinter = Fingerprinter(self._crawler, self.config.fingerprint_headers)
            buffer = await self._open_stores()
            self.fates = Fates(self._crawler, self._held, buffer, self._clock)
            self.intake = Intake(fingerprinter, self._packer, self.fates)
            self._buffer = buffer
            self._rounds = asyncio.ensure_future(buffer.run())
            self._timers.start()
        except WeftError as error:
            await self._stack.aclose()
            self._give_up(error)

    async def _open_stores(self) -> Buffer:
        config = self.config
        sinks = [make_sink(output, config.job_dir) for output in config.outputs]
        frontier: Frontier = RocksFrontier(config.job_dir / "frontier", config.frontier)
        self._frontier = await self._stack.enter_async_context(frontier)
        for sink in sinks:
            await sink.open()
            self._stack.push_async_callback(sink.close)
        await self._start_over(sinks)
        buffer = Buffer(
            self._frontier,
            sinks,
            owner=f"{socket.gethostname()}:{os.getpid()}",
            capacity=config.concurrency,
            config=config.frontier,
            concurrency_of=lambda host: config.limits_of(host).concurrency,
            clock=self._clock,
        )
        buffer.before_round = self._collect
        buffer.after_round = self._after_round
        return buffer

    async def _start_over(self, sinks: Sequence[Sink]) -> None:
        """Forget an earlier crawl where that is wanted; a job that is not finished goes on."""
        added = (await self._frontier.stats()).added
        if self.config.is_fresh:
            await self._frontier.clear()
            for sink in sinks:
                await sink.clear()
        elif self.config.is_rerun and self._job.is_finished(added):
            await self._frontier.clear()
        self._job.begin()

    def _give_up(self, error: WeftError) -> None:
        self.error = error
        logger.error("%s", error, extra={"spider": self._crawler.spider})

    def _close_at_once(self) -> None:
        # Scrapy closes cleanly only what it has opened completely.
        if self.error is not None:
            raise CloseSpider("store_error")

    def close(self, reason: str) -> Deferred[None]:
        return deferred_from_coro(self._close(reason))

    async def _close(self, reason: str) -> None:
        if self._buffer is None:
            return
        self._timers.stop()
        self._buffer.stop()
        await self._rounds
        try:
            if self.error is None:
                await self._buffer.flush()
                if reason == "finished" and self._buffer.stats.queued == 0:
                    self._job.finish(self._buffer.stats.added)
        except WeftError as error:
            self._give_up(error)
        finally:
            self._record_stats()
            await self._stack.aclose()

    def _record_stats(self) -> None:
        stats = self.buffer.stats
        for name in stats.__struct_fields__:
            self._stats.set_value(f"frontier/{name}", getattr(stats, name))
        if self.buffer.known:
            self._stats.inc_value("dupefilter/filtered", self.buffer.known)
        if self.buffer.items:
            self._stats.set_value("sinks/items", self.buffer.items)

    @property
    def is_open(self) -> bool:
        return self._buffer is not None

    @property
    def buffer(self) -> Buffer:
        assert self._buffer is not None, "the scheduler is not open"
        return self._buffer

    # What Scrapy asks

    def has_pending_requests(self) -> bool:
        return not (self.error or self.buffer.is_finished)

    def enqueue_request(self, request: Request) -> bool:
        try:
            packed = self.intake.pack(request)
        except PackError as error:
            return self._refuse(request, error)
        if not packed.is_forced and not self._recent.add(packed.fingerprint):
            self._stats.inc_value("dupefilter/filtered")
            return False
        self.buffer.put_link(packed)
        self._stats.inc_value("scheduler/enqueued")
        return True

    def next_request(self) -> Request | None:
        if self._has_enough_pages():
            return None
        claim = self.buffer.take()
        if claim is None:
            return None
        packed = claim.request
        try:
            request = self._packer.unpack(packed.url, packed.priority, packed.payload)
        except PackError as error:
            self._fail(claim, error)
            return None
        self.fates.begin(request, claim)
        self._stats.inc_value("scheduler/dequeued")
        return request

    def _has_enough_pages(self) -> bool:
        limit = self.config.max_pages
        return bool(limit) and self.pages + self.buffer.in_hand >= limit

    # What goes wrong

    def _refuse(self, request: Request, error: PackError) -> bool:
        """A request that cannot be stored costs this request, is told and remembered."""
        logger.error("%s", error, extra={"spider": self._crawler.spider})
        self._stats.inc_value("scheduler/unpackable")
        self.drop(request.url, f"{error.field} {error.problem}")
        return False

    def drop(self, url: str, rule: str) -> None:
        """Remember that a rule kept this URL out."""
        packed = PackedRequest(fingerprint(url), url, host_key(url), dropped_by=rule)
        self.buffer.put_link(packed)

    def _fail(self, claim: Claim, error: PackError) -> None:
        logger.error("%s", error, extra={"spider": self._crawler.spider})
        self.buffer.downloaded(claim.request.host)
        self._end(Fate(claim, error=error))

    # What the buffer's rounds ask

    def _collect(self) -> None:
        """Put the outcomes of all requests that Scrapy has let go of into the buffer."""
        for fate in self.fates.take_ended():
            self._end(fate)

    def _end(self, fate: Fate) -> None:
        outcome = fate.outcome()
        self.pages += fate.is_page
        self.refused += outcome.ending is Ending.DROPPED
        if outcome.ending is Ending.FAILED:
            self.failures[fate.failure] += 1
        self.buffer.put_outcome(outcome)

    def _after_round(self) -> None:
        if self.buffer.error is not None:
            self._give_up(self.buffer.error)
            self._close_spider("store_error")
        elif self.config.max_pages and self.pages >= self.config.max_pages:
            self._close_spider("max_pages")
        else:
            self._held.wake_engine()

    def _close_spider(self, reason: str) -> None:
        if self._closing is None and self._crawler.spider is not None:
            closing = self._crawler.engine.close_spider_async(reason=reason)
            self._closing = asyncio.ensure_future(closing)

    # Items and links

    def put_links(self, response: Response, urls: Iterable[str], depth: int) -> None:
        """Add plain links of a page without making Scrapy requests of them."""
        depth_limit = self._crawler.settings.getint("DEPTH_LIMIT")
        for packed in self.intake.pack_links(response, urls, depth, depth_limit):
            if packed.dropped_by or self._recent.add(packed.fingerprint):
                self.buffer.put_link(packed)

    def put_item(self, item: KeyedItem) -> None:
        self.buffer.put_item(item)


def scheduler_of(crawler: Crawler) -> Scheduler:
    scheduler = crawler.engine.scheduler
    # Not isinstance: Scrapy's schedulers answer it for anything that has their methods.
    if Scheduler not in type(scheduler).__mro__:
        raise EngineError("the parts of Weft work together only; use the add-on weft.Addon")
    return cast(Scheduler, scheduler)
