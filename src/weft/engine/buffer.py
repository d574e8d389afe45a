"""Between Scrapy, which never waits, and the stores, which take their time.

The scheduler puts links, items and ended claims in and takes claims out; it never waits. A
background task works in rounds. A round renews the claims when it is time to, takes everything that
was put in, then: stores the items and the raw pages, adds the links, finishes the claims, claims
anew. Whatever a claim brought was put in before its end was, so links, items and pages are always
safe before the claim is finished; and whatever dies in between, its claim is still open and will be
worked on again.

Other workers may share the frontier. What is queued, freed or left over there is found by asking,
once a second at least; and a claim may be lost to another worker, see `Holding` and `Share`.
"""

import asyncio
import logging
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

import msgspec

from weft.clock import monotonic_s
from weft.config import FrontierConfig
from weft.engine.delivery import Delivery
from weft.engine.holding import RENEWALS, Holding
from weft.engine.hostkeys import ByName, HostKeys
from weft.engine.share import Share
from weft.errors import WeftError
from weft.frontier import Frontier
from weft.records import AddStatus, Claim, Ending, Outcome, PackedRequest, Stats
from weft.sinks import KeyedItem
from weft.sinks.archive import Page

logger = logging.getLogger(__name__)

#: Shortest time between two rounds, so that batches form; and the same while enough is at hand.
ROUND_S = 0.01
EASY_ROUND_S = 0.03
#: Longest time between two rounds, and between two looks at what others do.
IDLE_ROUND_S = 1.0
#: Shortest time between two looks at the counters, unless all may be done: a line of progress shows
#: them.
LOOK_S = 0.25
#: So many claims may wait here, or half as many as requests may be under way.
MIN_READY = 32
#: Links that may wait for the frontier before no more requests are served.
MAX_LINKS = 20_000
#: The same of raw pages that wait for the archives.
MAX_PAGES_BYTES = 64_000_000


class Ended(NamedTuple):
    claim: Claim
    outcome: Outcome


class Return(NamedTuple):
    """A claim that is to be given back, and from when on."""

    token: int
    at_s: float


class Buffer:
    def __init__(
        self,
        frontier: Frontier,
        delivery: Delivery,
        *,
        owner: str,
        capacity: int,
        config: FrontierConfig,
        concurrency_of: Callable[[str], int],
        sent_ago_ms: Callable[[str], int | None],
        share: Share | None = None,
        keys: HostKeys | None = None,
        now_s: Callable[[], float] = monotonic_s,
    ) -> None:
        """`share`: None: the frontier is ours alone. `keys`: None: host names."""
        self._frontier = frontier
        self._keys = keys or ByName()
        self._delivery = delivery
        self._share = share
        self._owner = owner
        self._capacity = capacity
        self._claim_s = config.claim_ms / 1000
        self._sent_ago_ms = sent_ago_ms
        self._now_s = now_s
        self._holding = Holding(concurrency_of, self._claim_s, now_s)
        self._links: list[PackedRequest] = []
        self._items: list[KeyedItem] = []
        self._pages: list[Page] = []
        self._pages_bytes = 0
        self._ended: list[Ended] = []
        self._returns: list[Return] = []
        # Claims that had ended since the round before, when the last one began.
        self._just_ended = 0
        self._claim_at_s = -math.inf
        self._reclaimed_at_s = -math.inf
        self._looked_at_s = -math.inf
        self._restarts = frontier.restarts
        # Claims that were not finished because the store was restarted.
        self._unfinished = 0
        self._work = asyncio.Event()
        self._renewed = asyncio.Event()
        # Something happened here since the last look whether all is done.
        self._is_changed = True
        self._is_resting = False
        self._is_paused = False
        self._is_stopped = False
        #: Nothing was left to do, here or in the frontier, when a round last looked.
        self.is_settled = False
        self.stats = Stats()
        self.known = 0
        #: Outcomes that were ignored, for their claims had been given to others.
        self.late = 0
        #: Of pages that were done here, but are worked on again: how many, and their items.
        self.repeated_pages = 0
        self.repeated_items = 0
        #: What made the buffer stop working, if anything did.
        self.error: WeftError | None = None
        #: Called before each round: the time to put in what has ended.
        self.before_round: Callable[[], None] = lambda: None
        #: Called after each round: there may be claims to take.
        self.after_round: Callable[[], None] = lambda: None
        #: Called with hosts that other workers send to as well, before their claims can be taken.
        self.after_shared: Callable[[Sequence[str]], None] = lambda hosts: None
        #: Called when the frontier may have forgotten what it was told lately.
        self.after_restart: Callable[[], None] = lambda: None

    # For the scheduler

    def put_link(self, request: PackedRequest) -> None:
        self._links.append(request)
        self._disturb()

    def put_item(self, item: KeyedItem) -> None:
        self._items.append(item)
        self._disturb()

    def put_page(self, page: Page) -> None:
        self._pages.append(page)
        self._pages_bytes += len(page.body)
        self._disturb()

    def put_outcome(self, outcome: Outcome) -> None:
        self._ended.append(Ended(self._holding.end(outcome.token), outcome))
        self._disturb()

    def put_back(self, claim: Claim, delay_s: float = 0.0) -> None:
        """It was taken, but is to be worked on again; not before the delay is over."""
        self._holding.end(claim.token)
        if not self._holding.is_lost(claim.token):
            self._returns.append(Return(claim.token, self._now_s() + delay_s))
        self._holding.forget(claim.token)
        self._disturb()

    def take(self) -> Claim | None:
        """The next request to send, if one is ready; it then is in hand until its outcome."""
        claim = self._holding.take() if self._may_take() else None
        if claim is None:
            self._work.set()
        return claim

    @property
    def can_take(self) -> bool:
        """Whether `take` has something to give."""
        return self._may_take() and self._holding.ready.can_send

    def _may_take(self) -> bool:
        is_open = self.error is None and not self._is_resting and not self._is_paused
        has_room = len(self._links) <= MAX_LINKS and self._pages_bytes <= MAX_PAGES_BYTES
        return is_open and has_room and self.is_sure

    def may_send(self, claim: Claim | None) -> bool:
        """The last question before a request goes out, which may be no claim at all."""
        return self.is_sure and (claim is None or self._is_wanted(claim))

    def _is_wanted(self, claim: Claim) -> bool:
        """Whether a claim in hand is still to be sent, and by us."""
        is_leaving = self._share is not None and self._share.leaving([claim.token])
        return self._holding.is_ours(claim) and not is_leaving and not self._is_paused

    def is_ours(self, claim: Claim) -> bool:
        """Whether a claim in hand will be finished by us, as far as we know."""
        return self._holding.is_ours(claim)

    @property
    def is_sure(self) -> bool:
        """Whether nobody else can have been given our claims; `renewal` ends the doubt."""
        return self._holding.is_sure and (self._share is None or self._share.is_sure)

    def doubt(self) -> None:
        """Claims may have been given to others: renew them before anything is sent."""
        self._holding.doubt()
        self._work.set()

    async def renewal(self, timeout_s: float) -> None:
        """Until the claims have been renewed, but not longer than this."""
        self._renewed.clear()
        self._work.set()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._renewed.wait(), timeout_s)

    def downloaded(self, host: str) -> None:
        """A request of this host is no longer under way."""
        self._holding.ready.ended(host)
        self._work.set()

    def spoil(self) -> None:
        """Give back what is in hand instead of finishing it: it is being cut off."""
        self._holding.spoil_in_hand()

    def rest(self) -> None:
        """Take and claim no more."""
        self._is_resting = True

    def pause(self, *, is_paused: bool) -> None:
        """Send nothing more, and give back what waits; or go on. What is under way ends."""
        if is_paused != self._is_paused:
            self._is_paused = is_paused
            self._claim_soon()
            self._disturb()

    def put_back_host(self, host: str, delay_s: float) -> None:
        """Give back what waits for this host, when the delay is over."""
        at_s = self._now_s() + delay_s
        self._returns += [
            Return(claim.token, at_s) for claim in self._holding.ready.take_host(host)
        ]
        self._disturb()

    @property
    def in_hand(self) -> int:
        return self._holding.in_hand

    @property
    def is_finished(self) -> bool:
        """Nothing is left to do, as far as the last round has seen; if not, look again soon."""
        if not self.is_settled:
            self._work.set()
        return self.is_settled

    def _disturb(self) -> None:
        self.is_settled = False
        self._is_changed = True
        self._work.set()

    # In the background

    async def run(self) -> None:
        """Work in rounds until told to stop, or until a store fails."""
        try:
            while not self._is_stopped:
                await self._round()
                await asyncio.sleep(self._pause_s())
                await self._wait_for_work()
        except WeftError as error:
            self.give_up(error)
        except Exception as problem:  # a bug of ours must end the crawl, not leave it waiting
            logger.exception("the buffer failed")
            self.give_up(WeftError(f"the buffer failed: {problem!r}"))

    def give_up(self, error: WeftError) -> None:
        """Nothing more is served: a store has failed for good."""
        self.error = error
        self._renewed.set()
        self.after_round()

    def stop(self) -> None:
        """End `run` after the round that is under way."""
        self.rest()
        self._is_stopped = True
        self._delivery.hurry()
        self._work.set()

    async def flush(self) -> None:
        """Store all that was put in and give back what was not taken: the last thing to do."""
        await self._round()
        now_s = self._now_s()
        self._returns += [Return(claim.token, now_s) for claim in self._holding.ready.take_all()]
        await self._give_back()
        self.stats = await self._frontier.stats()

    def _pause_s(self) -> float:
        enough = max(MIN_READY, self._holding.in_hand, 2 * self._just_ended)
        return EASY_ROUND_S if len(self._holding.ready) >= enough else ROUND_S

    async def _wait_for_work(self) -> None:
        times_s = [self._holding.renew_at_s, *(there.at_s for there in self._returns)]
        if self._wanted() > 0:
            times_s.append(self._claim_at_s)
        timeout_s = min(IDLE_ROUND_S, max(0.0, min(times_s) - self._now_s()))
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._work.wait()

    async def _round(self) -> None:
        self._work.clear()
        await self._renew()
        self.before_round()
        ended, self._ended = self._ended, []
        self._just_ended = len(ended)
        items, self._items = self._items, []
        pages, self._pages, self._pages_bytes = self._pages, [], 0
        links, self._links = self._links, []
        await self._store(items, pages)
        await self._add(links)
        self._notice_restart()
        await self._end(ended)
        await self._give_back()
        self._notice_restart()
        await self._reclaim()
        await self._claim()
        self._notice_restart()
        await self._settle()
        self.after_round()

    async def _store(self, items: list[KeyedItem], pages: list[Page]) -> None:
        """Sinks may be down for long: meanwhile the claims stay ours."""
        if not items and not pages:
            return
        delivery = asyncio.ensure_future(self._delivery.store(items, pages))
        try:
            while not delivery.done():
                await asyncio.wait([delivery], timeout=self._renew_in_s())
                if not delivery.done():
                    await self._renew()
            delivery.result()
        finally:
            delivery.cancel()

    def _renew_in_s(self) -> float:
        return max(ROUND_S, min(IDLE_ROUND_S, self._holding.renew_at_s - self._now_s()))

    async def _add(self, links: list[PackedRequest]) -> None:
        if not links:
            return
        statuses = await self._frontier.add(await self._keys.keyed(links))
        self.known += statuses.count(AddStatus.KNOWN)
        self._claim_soon()

    # Claims that end

    async def _end(self, ended: Sequence[Ended]) -> None:
        late = 0
        outcomes = []
        for claim, outcome in ended:
            if self._holding.is_lost(claim.token):
                late += 1
                self._note_repeated(outcome)
            elif self._holding.is_spoilt(claim.token):
                self._note_repeated(outcome)
                # Nobody will be told when it was sent: its host has its delay first.
                delay_s = max(claim.delay_ms, outcome.crawl_delay_ms) / 1000
                self._returns.append(Return(claim.token, self._now_s() + delay_s))
            else:
                sent_ago_ms = self._sent_ago_ms(claim.request.host)
                outcomes.append(msgspec.structs.replace(outcome, sent_ago_ms=sent_ago_ms))
            self._holding.forget(claim.token)
        if outcomes:
            answers = await self._frontier.finish(outcomes)
            refused = answers.count(False)
            for outcome, is_finished in zip(outcomes, answers, strict=True):
                if not is_finished:
                    self._note_repeated(outcome)
            self._claim_soon()
            if self._frontier.restarts == self._restarts:
                late += refused
            else:
                self._unfinished += refused
        self._note_late(late)

    def _note_repeated(self, outcome: Outcome) -> None:
        """Another brings the same again, and that is what counts."""
        self.repeated_pages += outcome.ending is Ending.DONE
        self.repeated_items += outcome.items

    def _note_late(self, late: int) -> None:
        self.late += late
        if late:
            logger.warning("%d outcomes came too late: their claims had been given to others", late)

    async def _give_back(self) -> None:
        now_s = self._now_s()
        self._returns += [Return(token, now_s) for token in self._take_unwanted()]
        tokens = [there.token for there in self._returns if there.at_s <= now_s]
        if tokens:
            self._returns = [there for there in self._returns if there.at_s > now_s]
            await self._frontier.release(tokens)
            self._claim_soon()

    def _take_unwanted(self) -> list[int]:
        """Claims that wait here and are not to be sent by us: the crawl is paused, or their buckets
        are for another."""
        if self._is_paused:
            return [claim.token for claim in self._holding.ready.take_all()]
        if self._share is None:
            return []
        tokens = self._share.leaving(self._holding.ready.tokens())
        if tokens:
            self._holding.ready.discard(set(tokens))
        return tokens

    def _notice_restart(self) -> None:
        """A store that went back to an earlier state may not know links any more that we did not
        pass on again because we had passed them on before. So the pages that had them, which are
        those not finished yet, are worked on again."""
        if self._frontier.restarts == self._restarts:
            return
        self._restarts = self._frontier.restarts
        again = self._holding.spoil() + self._unfinished
        self._unfinished = 0
        logger.warning(
            "the store was restarted and may have forgotten the last moments; "
            "%d requests that were under way are worked on again",
            again,
        )
        self._holding.doubt()
        self.after_restart()
        self._disturb()

    # Claims that are kept and got

    async def _renew(self) -> None:
        """Three times a deadline, and before anything is sent if we may have missed one."""
        now_s = self._now_s()
        if now_s < self._holding.renew_at_s and self._holding.is_sure:
            return
        if self._share is not None and not self._share.is_sure:
            return  # the leases come first: they tell when claims are doubtful
        tokens = [*self._holding.tokens(), *(there.token for there in self._returns)]
        answers = await self._frontier.renew(self._owner, tokens)
        if lost := self._holding.note_renewed(now_s, tokens, answers):
            logger.warning(
                "%d claims are no longer this worker's: they were given to others, or a store that "
                "was restarted has forgotten them",
                lost,
            )
        self._renewed.set()

    async def _reclaim(self) -> None:
        """Take up what others have left: now and then, and often if there is nothing else to do."""
        period_s = self._claim_s / RENEWALS
        if self._is_idle():
            period_s = min(period_s, IDLE_ROUND_S)
        now_s = self._now_s()
        # Not what is left of our own, if we were stopped: it is renewed first.
        if now_s < self._reclaimed_at_s + period_s or not self.is_sure:
            return
        self._reclaimed_at_s = now_s
        if reclaimed := await self._frontier.reclaim():
            logger.warning("%d requests were left by a worker and are queued again", reclaimed)
            self._claim_soon()

    async def _claim(self) -> None:
        wanted = self._wanted()
        if wanted <= 0 or self._now_s() < self._claim_at_s or not self.is_sure:
            return
        claimed = await self._frontier.claim(self._owner, wanted)
        if claimed.shared_hosts:
            self.after_shared(claimed.shared_hosts)
        for claim in claimed.claims:
            self._holding.ready.put(claim)
        if claimed.claims:
            self.is_settled = False
            self._is_changed = True
        self._claim_at_s = self._now_s()
        if len(claimed.claims) < wanted:
            # There is nothing more for us now; but others may leave something at any time.
            next_in_ms = math.inf if claimed.next_in_ms is None else claimed.next_in_ms
            self._claim_at_s += min(next_in_ms / 1000, IDLE_ROUND_S)

    def _claim_soon(self) -> None:
        """Something has changed in the frontier."""
        self._claim_at_s = -math.inf

    def _wanted(self) -> int:
        if self._is_resting or self._is_paused:
            return 0
        return self._capacity + max(self._capacity // 2, MIN_READY) - len(self._holding)

    # Finished

    async def _settle(self) -> None:
        """See whether everything is done; what is put in during this round unsettles it."""
        now_s = self._now_s()
        is_news = self._is_changed and self._is_idle()
        if not is_news and now_s < self._looked_at_s + LOOK_S:
            return
        self._looked_at_s = now_s
        if is_news:
            self._is_changed = False
        self.stats = first = await self._frontier.stats()
        is_done = self._is_idle() and first.pending == 0
        if is_done:
            # A worker adds its links before it finishes their page; seen in one look, the counters
            # of different hosts may be from before the one and after the other.
            self.stats = await self._frontier.stats()
            is_done = self.stats.pending == 0 and self.stats.added == first.added
        self.is_settled = is_done and self._is_idle()

    def _is_idle(self) -> bool:
        """Nothing to do here."""
        has_input = self._links or self._items or self._pages or self._ended or self._returns
        return not has_input and not len(self._holding)
