"""The scheduler of a Scrapy crawl, on a frontier.

Scrapy calls it synchronously and it answers from memory: what it is given goes into the buffer,
what it gives comes out of it. It owns the job's frontier and sinks from `open` to `close`.
"""

import asyncio
import logging
import os
import secrets
import socket
from collections import Counter, deque
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Self, cast

from scrapy import Request, Spider, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import Deferred

from weft.clock import SystemClock
from weft.cluster.status import JobState, Status
from weft.engine.buffer import Buffer
from weft.engine.capture import Capture
from weft.engine.closing import Closing
from weft.engine.delivery import make_delivery
from weft.engine.fates import Fates
from weft.engine.fingerprint import Fingerprinter
from weft.engine.follow import FollowAll, absolute_urls
from weft.engine.gate import Gate
from weft.engine.held import HeldRequests
from weft.engine.hostkeys import make_keys
from weft.engine.intake import Intake
from weft.engine.keeper import LeaseKeeper
from weft.engine.lean import lighten
from weft.engine.markup import Excess
from weft.engine.outcome import SPIDER_ERROR, Fate
from weft.engine.pack import Packer
from weft.engine.places import Places
from weft.engine.pulse import Pulse
from weft.engine.recent import Period, RecentNumbers
from weft.engine.rules import read_rules
from weft.engine.scrapyparts import ScrapyPart
from weft.engine.settings import check_host_key, read_settings
from weft.engine.share import Share
from weft.engine.stops import CUT_S, Stops
from weft.engine.timers import TimerSweep
from weft.engine.visits import Visits
from weft.errors import EngineError, FingerprintError, PackError, StoreError, WeftError
from weft.frontier import LeasesBuckets, open_frontier
from weft.records import Claim, Ending, PackedRequest
from weft.sinks import KeyedItem
from weft.sinks.outputs import describe, remember_outputs
from weft.urls import fingerprint, host_key

if TYPE_CHECKING:
    from weft.cluster.media import MediaClaims

logger = logging.getLogger(__name__)

#: Links that this process has passed on lately, at 8 bytes each, by fingerprint and by text.
RECENT = 2**20
#: The same for a single page.
RECENT_ON_PAGE = 2**10
#: All of them are forgotten so often in the time after which a URL that failed is taken again, so
#: that one that is found then gets through.
FORGETTINGS = 24
#: Start requests that are kept to be added again if the store forgets them: no page has them.
MAX_STARTS = 10_000
#: When a host has asked for a pause, its claims are given back after this time at the latest: by
#: then the frontier knows of it too.
GIVE_BACK_S = 1.0
#: How long to wait for a shared store when the crawl is being closed.
CLOSE_S = 20.0
#: Time between two looks whether to go on waiting for a store that does not answer.
LOOK_S = 1.0


class Scheduler(BaseScheduler):
    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._stats = crawler.stats
        self._clock = SystemClock()
        self._held = HeldRequests(crawler)
        self._timers = TimerSweep()
        self._stack = AsyncExitStack()
        self._recent = RecentNumbers(RECENT)
        self._known_hrefs = RecentNumbers(RECENT)
        # Scrapy's statistics, brought there once a round: each call of theirs takes its time.
        self._counts: Counter[str] = Counter()
        self._starts: deque[PackedRequest] = deque(maxlen=MAX_STARTS)
        self._closing: asyncio.Future[None] | None = None
        self._buffer: Buffer | None = None
        self._share: Share | None = None
        #: Who downloads which file; None: there are no other workers.
        self.media: MediaClaims | None = None
        self.gate = Gate()
        self.stops = Stops(lambda: not self.buffer.is_sure)
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
        if ScrapyPart.ENGINE not in crawler.settings.getlist("WEFT_SCRAPY_PARTS"):
            lighten(crawler.engine)
        return cls(crawler)

    # Opening and closing

    def open(self, spider: Spider) -> Deferred[None]:
        return deferred_from_coro(self._open(spider))

    async def _open(self, spider: Spider) -> None:
        self._held.check()
        self._crawler.signals.connect(self._close_at_once, signals.spider_opened)
        try:
            self.config = read_settings(self._crawler.settings, spider.name)
            self.closing = Closing(self.config.close_s)
            self.rules = read_rules(self._crawler.settings, spider)
            self._recent_period = Period(self.config.frontier.bad_url_ms / FORGETTINGS, self._clock)
            self._packer = Packer(spider)
            self._pulse = Pulse(self.config.node)
            fingerprinter = Fingerprinter(self._crawler, self.config.fingerprint_headers)
            buffer = await self._open_stores()
            self.fates = Fates(self._crawler, self._held, buffer, self._clock)
            self.intake = Intake(fingerprinter, self._packer, self.fates)
            self.closing.after_grace = buffer.spoil
            if self.config.archives:
                self._capture = Capture(self._crawler, buffer.put_page, self._clock)
            if self._share is not None:
                await self._start_share(self._share, buffer)
            self._buffer = buffer
            self._rounds = asyncio.ensure_future(buffer.run())
            self.visits.start()
            self._timers.start()
            self.stops.start()
        except WeftError as error:
            await self._stack.aclose()
            self._give_up(error)

    async def _open_stores(self) -> Buffer:
        config = self.config
        self.delivery = make_delivery(config)
        owner = _owner()
        frontier = open_frontier(config.store, config.job, config.frontier)
        self._frontier = await self._stack.enter_async_context(frontier)
        self._stack.push_async_callback(self.delivery.close)
        await self.delivery.open()
        await self._begin()
        self._remember_outputs()
        self.keys = make_keys(self._frontier)
        self._stack.callback(self.keys.close)
        self._share = await self._open_share(owner)
        buffer = Buffer(
            self._frontier,
            self.delivery,
            owner=owner,
            capacity=config.concurrency,
            config=config.frontier,
            concurrency_of=lambda host: config.limits_of(host).concurrency,
            sent_ago_ms=lambda host: self.gate.sent_ago_ms(self.keys.key(host)),
            share=self._share,
            keys=self.keys,
        )
        self.visits = Visits(
            self._frontier,
            self.gate,
            owner=owner,
            concurrency_of=lambda host: config.limits_of(host).concurrency,
            keep_s=config.lease_s,
        )
        self.visits.after_error = buffer.give_up
        self.visits.after_pause = self._pause_host
        buffer.after_shared = self.visits.note_shared
        buffer.before_round = self._collect
        buffer.after_round = self._after_round
        buffer.after_restart = self._after_restart
        return buffer

    async def _open_share(self, owner: str) -> Share | None:
        """Our place among the workers of a shared frontier."""
        if not isinstance(self._frontier, LeasesBuckets):
            return None
        # Here, for an embedded store needs no Redis client.
        from weft.cluster.media import MediaClaims
        from weft.cluster.membership import Membership
        from weft.redis.client import Client

        config = self.config
        client = await self._stack.enter_async_context(Client(config.store.url))
        self.media = MediaClaims(client, config.job, owner, round(config.lease_s * 1000))
        share = Share(
            self._frontier,
            Membership(client, config.job, owner),
            owner=owner,
            workers_per_host=config.frontier.workers_per_host,
            lease_s=config.lease_s,
            weight=config.weight or None,
            status=self._status,
        )
        self._stack.push_async_callback(share.close)
        return share

    async def _start_share(self, share: Share, buffer: Buffer) -> None:
        await share.beat()
        if share.state is JobState.STOPPED:
            job = self.config.job
            resume = f"weft job resume {job} --store {self.config.store.place}"
            raise StoreError(f"the job {job} was stopped; `{resume}` lets it go on")
        share.after_doubt = buffer.doubt
        share.after_call = self.visits.note_shared
        share.after_lapse = self._cut_off
        share.after_beat = self._obey
        share.after_error = buffer.give_up
        beats = asyncio.ensure_future(share.run())
        self._stack.callback(beats.cancel)
        keeper = self._make_keeper(share)
        keeper.start()
        self._stack.callback(keeper.stop)

    def _make_keeper(self, share: Share) -> LeaseKeeper:
        from weft.redis.client import SHORT_PATIENCE_S, Client

        config = self.config
        return LeaseKeeper(
            share,
            lambda: Client(config.store.url, patience_s=SHORT_PATIENCE_S),
            share.stay,
            after_s=config.lease_s / 3,
            until_s=config.frontier.claim_ms / 1000,
        )

    def _status(self) -> Status:
        buffer = self._buffer
        share = self._share
        return self._pulse.status(
            state=str(share.state if share else JobState.RUNNING),
            pages=self.pages,
            errors=self.failures.total(),
            claims=buffer.in_hand if buffer else 0,
            buckets=len(share.buckets) if share else 0,
            weight=share.weight if share else 1.0,
        )

    def _obey(self, state: JobState) -> None:
        """Do what the workers of the job are told to do."""
        self.buffer.pause(is_paused=state is not JobState.RUNNING)
        if state is JobState.STOPPED and self._closing is None:
            self._cut_off(f"the job {self.config.job} was stopped")
            self._close_spider("stopped")

    def _cut_off(self, why: str) -> None:
        logger.warning("%s; what is under way is cut off, and fetched again later", why)
        self.stops.cut()

    async def _begin(self) -> None:
        """Forget an earlier crawl where that is wanted; a job that is not finished goes on."""
        is_fresh, is_rerun = self.config.is_fresh, self.config.is_rerun
        also_forget = self.delivery.clear if is_fresh else None
        await self._frontier.begin(is_fresh=is_fresh, is_rerun=is_rerun, also_forget=also_forget)
        check_host_key(self._frontier, self.config)

    def _remember_outputs(self) -> None:
        config = self.config
        outputs = describe(config.job, config.sinks, config.archives, config.job_dir)
        remember_outputs(config.job_dir, outputs, is_fresh=config.is_fresh)

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
        self.closing.end()
        self.stops.close()
        self._buffer.stop()
        try:
            async with self._time_to_close():
                await self._rounds
                if self.error is None:
                    await self._buffer.flush()
            await self._end_delivery(reason)
            if reason == "finished" and self._is_everything_done():
                # Last of all, for a finished crawl is not opened again.
                async with self._time_to_close():
                    await self._frontier.mark_finished()
        except TimeoutError:
            self._give_up(self._no_answer())
        except WeftError as error:
            self._give_up(error)
        finally:
            await self.visits.close()
            self._record_stats()
            await self._stack.aclose()

    async def _end_delivery(self, reason: str) -> None:
        """What was cut short, or has failed, has only what it has stored."""
        if self.error is None and reason != "shutdown":
            await self.delivery.end()
        else:
            await self.delivery.close()

    def _time_to_close(self) -> asyncio.Timeout:
        return asyncio.timeout(CLOSE_S if self.config.store.is_shared else None)

    def _is_everything_done(self) -> bool:
        stats = self.buffer.stats
        return self.error is None and stats.pending == 0 and stats.held == 0

    def _no_answer(self) -> StoreError:
        claim_s = self.config.frontier.claim_ms / 1000
        return StoreError(
            f"{self.config.store.place} did not answer for {CLOSE_S:g} s while the crawl was being "
            f"closed; nothing is lost: what this worker had in its hands comes back after "
            f"{claim_s:g} s, and the same command goes on"
        )

    def _bring_counts(self) -> None:
        for name, number in self._counts.items():
            self._stats.inc_value(name, number)
        self._counts.clear()

    def _record_stats(self) -> None:
        self._bring_counts()
        stats = self.buffer.stats
        for name in stats.__struct_fields__:
            self._stats.set_value(f"frontier/{name}", getattr(stats, name))
        if self.buffer.known:
            self._stats.inc_value("dupefilter/filtered", self.buffer.known)
        if self.delivery.items:
            self._stats.set_value("sinks/items", self.delivery.items)
        if self.delivery.pages:
            self._stats.set_value("archives/pages", self.delivery.pages)
        if self.delivery.refused:
            self._stats.set_value("sinks/refused", self.delivery.refused)
        if self.buffer.late:
            self._stats.set_value("frontier/late", self.buffer.late)

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
        if self._is_made_of_abandoned(request):
            return False
        try:
            packed = self.intake.pack(request)
        except PackError as error:
            self._refuse(error, request.url)
            self._note_lost(request, error)
            return False
        if not packed.is_forced and not self._recent.add(packed.fingerprint):
            self._counts["dupefilter/filtered"] += 1
            return False
        if not packed.found_on:
            self._starts.append(packed)
        self.buffer.put_link(packed)
        self._counts["scheduler/enqueued"] += 1
        return True

    def _is_made_of_abandoned(self, request: Request) -> bool:
        """Whether it replaces one that another worker has now: that one finds it again."""
        old = self.fates.replaced.get(request)
        fate = self.fates.get(old) if old is not None else None
        return fate is not None and (fate.is_abandoned or not self.buffer.is_ours(fate.claim))

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
        self._counts["scheduler/dequeued"] += 1
        return request

    def _has_enough_pages(self) -> bool:
        limit = self.config.max_pages
        return bool(limit) and self.pages + self.buffer.in_hand >= limit

    def may_send(self, claim: Claim | None) -> bool:
        """Whether a request, which may be no claim at all, may go out at this moment."""
        is_over = self.stops.is_cutting or self.closing.is_over
        return self.buffer.may_send(claim) and not is_over

    async def may_send_soon(self, claim: Claim | None) -> bool:
        """Waits while nobody can tell. When the crawl is being closed, claims are not sent any more
        but given back.

        Claims that were not renewed in time may be another's by now, and with them the right to
        send anything to their hosts.
        """
        if claim is not None and self._held.is_closing:
            return False
        while self.stops.is_cutting or not self.buffer.is_sure:
            if self.error is not None or self._held.is_closing:
                return False
            await (asyncio.sleep(CUT_S) if self.stops.is_cutting else self.buffer.renewal(LOOK_S))
        return self.may_send(claim)

    def note_left_downloader(self, request: Request) -> None:
        """It is no longer under way, whatever became of it."""
        self.gate.leave(request)
        self.visits.leave(request)
        self.fates.note_left_downloader(request)

    def note_overloaded(self, host: str, retry_after_ms: int) -> None:
        """It has had enough, and wants to be left alone for so long, or as long as we choose."""
        config = self.config.frontier
        self._pause_host(host, max(config.backoff_ms, min(retry_after_ms, config.max_pause_ms)))

    def _pause_host(self, host: str, pause_ms: int) -> None:
        """What waits for it here waits in the frontier from now on."""
        self.gate.pause(host, pause_ms / 1000)
        self.buffer.put_back_host(host, min(GIVE_BACK_S, pause_ms / 1000))

    # What goes wrong

    def _refuse(self, error: PackError, *urls: str) -> None:
        """Requests that cannot be stored cost only themselves, are told and remembered."""
        logger.error("%s", error, exc_info=_raised(error), extra={"spider": self._crawler.spider})
        self._stats.inc_value("scheduler/unpackable", len(urls))
        for url in urls:
            self.drop(url, f"{error.field} {error.problem}")

    def _note_lost(self, request: Request, error: PackError) -> None:
        """What it means for the page where it was found that a request is lost."""
        old = self.fates.replaced.pop(request, None)
        place = self.intake.found_at.get(request)
        if old is not None:
            self.fates.note_error(old, error)
        elif isinstance(error, FingerprintError):
            self._note_raised(error, self.fates.of_page(place.page) if place else None)
        elif place is None:  # a start request
            self.failures[type(error).__name__] += 1

    def _note_raised(self, error: FingerprintError, fate: Fate | None) -> None:
        """As if the callback had raised it that found the request."""
        self._stats.inc_value("spider_exceptions/count")
        self._stats.inc_value(f"spider_exceptions/{type(error.__cause__).__name__}")
        if fate is not None:
            fate.spider_error = str(error)
        else:  # a start request
            self.failures[SPIDER_ERROR] += 1

    def refuse(self, response: Response, excess: Excess) -> None:
        """Remember why a page is not parsed."""
        self._counts[f"pages/refused/{excess.limit}"] += 1
        self.fates.note_refused(response, excess.reason)

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
        if self._recent_period.is_over():
            self._forget_links()
        for fate in self.fates.take_ended():
            self._end(fate)

    def _end(self, fate: Fate) -> None:
        if fate.is_abandoned:
            delay_ms = max(fate.claim.delay_ms, fate.crawl_delay_ms) if fate.is_sent else 0
            host = self.keys.key(fate.claim.request.host)
            pause_s = min(GIVE_BACK_S, self.gate.pause_left_s(host))
            self.buffer.put_back(fate.claim, max(delay_ms / 1000, pause_s))
            return
        outcome = fate.outcome()
        self.pages += fate.is_page
        self.refused += outcome.ending is Ending.DROPPED
        if outcome.ending is Ending.FAILED:
            self.failures[fate.failure] += 1
        self.buffer.put_outcome(outcome)

    def accepted(self) -> tuple[int, int]:
        """Pages and items of this run, without those that are brought again by others."""
        buffer = self.buffer
        pages = max(0, self.pages - buffer.repeated_pages)
        return pages, max(0, self.delivery.items - buffer.repeated_items)

    def _after_round(self) -> None:
        self._bring_counts()
        if self._held.is_closing:
            self.closing.begin()
            if self._share is not None:
                self._share.retire()
        if self.buffer.error is not None:
            self._give_up(self.buffer.error)
            self._close_spider("store_error")
        elif self.config.max_pages and self.pages >= self.config.max_pages:
            self._close_spider("max_pages")
        elif self.buffer.can_take or self.buffer.is_settled:
            self._held.wake_engine()

    def _after_restart(self) -> None:
        """What was passed on lately may have been forgotten: pass it on again."""
        self._forget_links()
        for packed in self._starts:
            self.buffer.put_link(packed)

    def _forget_links(self) -> None:
        """What is found from now on is passed on, whether it was before or not."""
        self._recent.clear()
        self._known_hrefs.clear()

    def _close_spider(self, reason: str) -> None:
        if self._closing is None and self._crawler.spider is not None:
            closing = self._crawler.engine.close_spider_async(reason=reason)
            self._closing = asyncio.ensure_future(closing)

    # Items and links

    def follow(self, response: Response, batch: FollowAll) -> None:
        """Add the links of a page without making Scrapy requests of them."""
        urls = absolute_urls(response, batch.links)

        def refuse(error: FingerprintError, url: str) -> None:
            self._refuse(error, url)
            self._note_raised(error, self.fates.get(response.request) if response.request else None)

        try:
            for packed in self.intake.pack_links(response, urls, batch, self.rules, refuse):
                self._put_new_link(packed)
        except PackError as error:
            self._refuse(error, *urls)

    def _put_new_link(self, packed: PackedRequest) -> None:
        if not self.rules.is_allowed(packed.host):
            self._counts["offsite/filtered"] += 1
        elif packed.dropped_by or self._recent.add(packed.fingerprint):
            self.buffer.put_link(packed)
            self._counts["scheduler/enqueued"] += not packed.dropped_by
        else:
            self._counts["dupefilter/filtered"] += 1

    def is_known(self, request: Request) -> bool:
        """Whether this process has passed it on lately, so that it need not come here again."""
        if request.dont_filter:
            return False
        is_plain = self.intake.is_plain(request)
        if not (is_plain and hash(request.url) in self._known_hrefs):
            if not self._was_passed_on(request):
                return False
            if is_plain:
                self._known_hrefs.add(hash(request.url))
        self._counts["dupefilter/filtered"] += 1
        return True

    def _was_passed_on(self, request: Request) -> bool:
        try:
            return self.intake.fingerprint(request) in self._recent
        except FingerprintError:  # `enqueue_request` tells it
            return False

    def known_hrefs(self, depth: int) -> RecentNumbers:
        """What the pages of this process linked to lately: hashes of the text that was there.

        Not those that are too deep: they may be found again, less deep.
        """
        is_too_deep = self.rules.is_too_deep(depth)
        return RecentNumbers(RECENT_ON_PAGE) if is_too_deep else self._known_hrefs

    def put_item(self, item: KeyedItem) -> None:
        self.buffer.put_item(item)


def _raised(error: PackError) -> BaseException | None:
    """What the project's own code raised, if that is the reason."""
    return error.__cause__ if isinstance(error, FingerprintError) else None


def _owner() -> str:
    """A name for this process that no other has, now or later, here or on another machine."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(2)}"


def scheduler_of(crawler: Crawler) -> Scheduler:
    scheduler = crawler.engine.scheduler
    # Not isinstance: Scrapy's schedulers answer it for anything that has their methods.
    if Scheduler not in type(scheduler).__mro__:
        raise EngineError("the parts of Weft work together only; use the add-on weft.Addon")
    return cast(Scheduler, scheduler)
