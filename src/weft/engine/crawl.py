"""One crawl in this process: builds its parts, opens and closes them, and reports its progress.

All parts of a crawl are assembled here, and each is given what it uses. The parts decide what
happens to a page: see the life of a URL in ARCHITECTURE.md.
"""

import asyncio
import logging
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider

from weft.clock import SystemClock
from weft.cluster.status import JobState, Status
from weft.engine.beginning import begin_job
from weft.engine.claims.activity import Activity
from weft.engine.claims.assembly import make_claim_parts
from weft.engine.claims.buffer import Buffer
from weft.engine.claims.delivery import Delivery, make_delivery
from weft.engine.claims.fates import Fates
from weft.engine.claims.observer import Observer
from weft.engine.claims.outcome import Fate
from weft.engine.claims.owner import make_owner
from weft.engine.claims.pulse import Pulse
from weft.engine.claims.results import Results
from weft.engine.claims.rounds import Rounds
from weft.engine.claims.settling import Settling
from weft.engine.claims.statistics import record_statistics
from weft.engine.extensions.capture import Capture
from weft.engine.politeness.closing import Closing
from weft.engine.politeness.gate import Gate
from weft.engine.politeness.hostkeys import HostKeys, make_keys
from weft.engine.politeness.limits import CrawlLimits
from weft.engine.politeness.sender import Sender
from weft.engine.politeness.stops import Stops
from weft.engine.politeness.visits import Visits
from weft.engine.politeness.wishes import HostWishes
from weft.engine.requests.assembly import RequestParts, make_request_parts
from weft.engine.requests.output import OutputCounter
from weft.engine.requests.positions import Positions
from weft.engine.scrapy.counts import Counts
from weft.engine.scrapy.inprogress import InProgress
from weft.engine.scrapy.reactors import check_reactor
from weft.engine.scrapy.throttle import Throttle
from weft.engine.scrapy.timers import TimerSweep
from weft.engine.settings import JobConfig
from weft.errors import StoreError, WeftError
from weft.frontier import Frontier, LeasesBuckets, open_frontier

if TYPE_CHECKING:
    from weft.cluster.media import MediaClaims
    from weft.engine.sharing import Sharing

logger = logging.getLogger(__name__)

#: How long to wait for a shared store when the crawl is being closed.
CLOSE_S = 20.0


class Crawl:
    #: Set by `open`, and available from then on.
    delivery: Delivery
    activity: Activity
    buffer: Buffer
    settling: Settling
    fates: Fates
    observer: Observer
    requests: RequestParts
    sender: Sender
    keys: HostKeys
    limits: CrawlLimits
    wishes: HostWishes
    results: Results
    closing: Closing

    def __init__(self, crawler: Crawler, config: JobConfig) -> None:
        self._crawler = crawler
        self.config = config
        self._clock = SystemClock()
        self._in_progress = InProgress(crawler)
        self._timers = TimerSweep()
        self._stack = AsyncExitStack()
        self._stopping: asyncio.Future[None] | None = None
        # None if there are no other workers.
        self._sharing: Sharing | None = None
        #: Which worker downloads which file; None if there are no other workers.
        self.media: MediaClaims | None = None
        self.positions = Positions()
        #: Scrapy's statistics.
        self.counts = Counts(crawler.stats)
        self.is_open = False
        #: Why the crawl cannot start or continue.
        self.error: WeftError | None = None

    # Opening

    async def open(self, spider: Spider) -> None:
        """Open all parts. An error is logged and ends the crawl."""
        self._in_progress.check()
        self._crawler.signals.connect(self._close_at_once, signals.spider_opened)
        try:
            check_reactor()
            await self._open(spider)
        except WeftError as error:
            await self._stack.aclose()
            self._give_up(error)

    async def _open(self, spider: Spider) -> None:
        config = self.config
        self.closing = Closing(config.close_s)
        self._pulse = Pulse(config.node)
        owner = make_owner()
        self._frontier = await self._open_frontier(spider)
        if isinstance(self._frontier, LeasesBuckets):
            await self._open_sharing(self._frontier, owner)
        self._build(spider, owner)
        self._connect()
        if begin := getattr(spider, "begin", None):  # our spider of boards
            await begin(self)
        if self._sharing is not None:
            await self._start_sharing(self._sharing)
        self._running = asyncio.ensure_future(self._rounds.run())
        self._visits.start()
        self._timers.start()
        self._stops.start()
        self.is_open = True

    async def _open_frontier(self, spider: Spider) -> Frontier:
        config = self.config
        # Our spider of boards says which items have sinks of their own.
        make_route = getattr(spider, "make_route", None)
        self.delivery = make_delivery(config, make_route(config) if make_route else None)
        frontier = await self._stack.enter_async_context(
            open_frontier(config.store, config.job, config.frontier)
        )
        self._stack.push_async_callback(self.delivery.close)
        await self.delivery.open()
        await begin_job(frontier, config, self.delivery, spider)
        return frontier

    def _build(self, spider: Spider, owner: str) -> None:
        """Build the parts, those that know the least about others first."""
        config = self.config
        frontier = self._frontier
        gate = Gate()
        self.keys = keys = make_keys(frontier)
        self.limits = limits = CrawlLimits(config, frontier)
        self._stack.callback(keys.close)
        self._claims = claims = make_claim_parts(
            frontier,
            self.delivery,
            owner=owner,
            capacity=config.concurrency,
            config=config.frontier,
            concurrency_of=limits.concurrency_of,
            sent_ago_ms=lambda host: gate.times.ago_ms(keys.key(host)),
            share=self._sharing.share if self._sharing else None,
            keys=keys,
            is_watching=config.is_watching,
        )
        self._rounds = Rounds(claims)
        self.activity = claims.activity
        self.buffer = buffer = claims.buffer
        self.settling = claims.settling
        self._supply = claims.supply
        self._visits = visits = Visits(
            frontier, gate, owner=owner, concurrency_of=limits.concurrency_of, keep_s=config.lease_s
        )
        self._stops = stops = Stops(lambda: not claims.renewals.is_sure)
        self.wishes = HostWishes(config.frontier, keys, gate.times, visits, claims.returns)
        self.sender = Sender(
            limits,
            claims.supply,
            claims.renewals,
            claims.returns,
            gate,
            visits.turns,
            self.wishes,
            keys,
            Throttle(self._crawler),
            stops,
            self.closing,
            self._in_progress,
        )
        self.fates = Fates(self._in_progress, claims.supply.downloaded)
        self.observer = Observer(self._crawler, self.fates, self._clock)
        self.results = Results(buffer, claims.finisher, self.delivery)
        self.requests = make_request_parts(
            *(self._crawler, spider, config, claims, self.fates, self.results),
            end_claim=self._end,
            concurrency_of=limits.concurrency_of,
            counts=self.counts,
            clock=self._clock,
        )
        if config.archives:
            self._capture = Capture(self._crawler, buffer.put_page, self._clock)

    def _connect(self) -> None:
        """Connect parts that are built before those that they call."""
        claims = self._claims
        claims.claimer.after_shared = self._visits.note_shared
        self._rounds.before_round = self._collect
        self._rounds.after_round = self._after_round
        self._visits.after_error = self._rounds.give_up
        self._visits.after_pause = self.wishes.pause
        # What is being cut off is given back instead of finished.
        self.closing.after_grace = lambda: claims.hand.spoil(is_ended_too=False)

    async def _open_sharing(self, frontier: LeasesBuckets, owner: str) -> None:
        # Imported here because an embedded store needs no Redis client.
        from weft.engine.sharing import open_sharing

        self._sharing = await open_sharing(self._stack, frontier, self.config, owner, self.status)
        self.media = self._sharing.media

    async def _start_sharing(self, sharing: "Sharing") -> None:
        await sharing.join()
        share = sharing.share
        share.after_doubt = self._claims.renewals.doubt
        share.after_call = self._visits.note_shared
        share.after_lapse = self._cut_off
        share.after_beat = self._obey
        share.after_error = self._rounds.give_up
        sharing.start(self._stack)

    def _give_up(self, error: WeftError) -> None:
        self.error = error
        logger.error("%s", error, extra={"spider": self._crawler.spider})
        self._crawler.signals.connect(self._fail_command, signals.spider_closed)

    def _fail_command(self) -> None:
        # By this Scrapy knows that a crawl did not do what it was to do: `scrapy crawl` ends with
        # an error, too.
        self._crawler.spider = None

    def _close_at_once(self) -> None:
        # Scrapy closes cleanly only what has been opened completely.
        if self.error is not None:
            raise CloseSpider("store_error")

    # While it runs

    def pause(self) -> None:
        """Send nothing more until `resume`. Requests under way are finished."""
        self._supply.pause(is_paused=True)

    def resume(self) -> None:
        self._supply.pause(is_paused=False)

    def stop(self, reason: str) -> None:
        """Stop the crawl as Ctrl-C does. Further calls do nothing."""
        if self._stopping is None and self._crawler.spider is not None:
            stopping = self._crawler.engine.close_spider_async(reason=reason)
            self._stopping = asyncio.ensure_future(stopping)

    def status(self) -> Status:
        """What a worker reports about itself."""
        share = self._sharing.share if self._sharing else None
        is_open = self.is_open
        return self._pulse.status(
            state=str(share.state if share else JobState.RUNNING),
            pages=self.results.pages if is_open else 0,
            errors=self.results.failures.total() if is_open else 0,
            claims=len(self._claims.hand) if is_open else 0,
            buckets=len(share.buckets) if share else 0,
            weight=share.weight if share else 1.0,
        )

    def _obey(self, state: JobState) -> None:
        """Pause, resume or stop as the state of the job says."""
        if state is JobState.RUNNING:
            self.resume()
        else:
            self.pause()
        if state is JobState.STOPPED and self._stopping is None:
            self._cut_off(f"the job {self.config.job} was stopped")
            self.stop("stopped")

    def _cut_off(self, why: str) -> None:
        logger.warning("%s; requests in progress are cut off and fetched again later", why)
        self._stops.cut()

    def count_output(self, request: Request | None) -> OutputCounter:
        """For what the page of a request yields."""
        return OutputCounter(self.requests.intake, self.positions, self.fates, request)

    def _collect(self) -> None:
        """Before each round, put in what has ended: the requests that Scrapy has let go of."""
        self.requests.adder.forget_in_time()
        kept = self.requests.kept
        if self._in_progress.is_closing:
            kept.drop_all()
        for fate in self.fates.take_ended():
            if fate.is_kept and not fate.is_abandoned and not fate.is_retry_of_claim:
                self.results.end(fate)
            if fate.kept:
                self._claims.hand.end(fate.claim.token)
            if fate.is_kept or fate.kept:
                kept.let_go(fate)
            else:
                self._end(fate)

    def _end(self, fate: Fate) -> None:
        """Nothing is left of a claim."""
        if fate.is_abandoned:
            self.sender.give_back(fate)
        else:
            self.results.end(fate)

    def _after_round(self) -> None:
        self.counts.flush()
        if self._in_progress.is_closing:
            self.closing.begin()
            if self._sharing is not None:
                self._sharing.share.retire()
        limit = self.config.max_pages
        if self._rounds.error is not None:
            self._give_up(self._rounds.error)
            self.stop("store_error")
        elif limit and self.results.pages >= limit:
            self.stop("max_pages")
        elif self._can_serve() or self.activity.is_settled:
            self._in_progress.wake_engine()

    def _can_serve(self) -> bool:
        return self._supply.may_take and (
            self._claims.ready.can_send or self.requests.kept.can_take
        )

    # Closing

    async def close(self, reason: str) -> None:
        if not self.is_open:
            return
        self._timers.stop()
        self.closing.end()
        self._stops.close()
        self.delivery.hurry()
        self._rounds.stop()
        try:
            async with self._time_to_close():
                await self._running
                if self.error is None:
                    await self._rounds.flush()
            await self._end_delivery(reason)
            if reason == "finished" and self._is_everything_done():
                # Last of all, because a finished crawl is not opened again.
                async with self._time_to_close():
                    await self._frontier.mark_finished()
        except TimeoutError:
            self._give_up(self._no_answer())
        except WeftError as error:
            self._give_up(error)
        finally:
            await self._visits.close()
            self.counts.flush()
            record_statistics(self._crawler.stats, self._claims, self.delivery)
            await self._stack.aclose()

    async def _end_delivery(self, reason: str) -> None:
        """A crawl that was cut short or has failed keeps only what it has stored."""
        if self.error is None and reason != "shutdown":
            await self.delivery.end()
        else:
            await self.delivery.close()

    def _time_to_close(self) -> asyncio.Timeout:
        return asyncio.timeout(CLOSE_S if self.config.store.is_shared else None)

    def _is_everything_done(self) -> bool:
        stats = self.settling.stats
        return self.error is None and stats.pending == 0 and stats.held == 0

    def _no_answer(self) -> StoreError:
        claim_s = self.config.frontier.claim_ms / 1000
        return StoreError(
            f"{self.config.store.place} did not answer for {CLOSE_S:g} s while the crawl was being "
            f"closed; nothing is lost: the claims of this worker come back after "
            f"{claim_s:g} s; run the same command to continue"
        )
