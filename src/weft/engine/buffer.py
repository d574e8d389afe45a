"""Between Scrapy, which never waits, and the stores, which take their time.

The scheduler puts links, items and ended claims in and takes claims out; it never waits. A
background task works in rounds. A round takes everything that was put in, then: stores the items,
adds the links, finishes the claims, claims anew. Whatever a claim brought was put in before its
end was, so links and items are always safe before the claim is finished; and whatever dies in
between, its claim is still open and will be worked on again.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence

from weft.clock import Clock
from weft.config import FrontierConfig
from weft.engine.ready import Ready
from weft.errors import WeftError
from weft.frontier import Frontier
from weft.records import AddStatus, Claim, Outcome, PackedRequest, Stats
from weft.sinks import KeyedItem, Sink

logger = logging.getLogger(__name__)

#: Shortest time between two rounds, so that batches form.
ROUND_S = 0.01
#: Longest time between two rounds.
IDLE_ROUND_S = 1.0
#: Links that may wait for the frontier before no more requests are served.
MAX_LINKS = 20_000


class Buffer:
    def __init__(
        self,
        frontier: Frontier,
        sinks: Sequence[Sink],
        *,
        owner: str,
        capacity: int,
        config: FrontierConfig,
        concurrency_of: Callable[[str], int],
        clock: Clock,
    ) -> None:
        self._frontier = frontier
        self._sinks = sinks
        self._owner = owner
        self._capacity = capacity
        self._config = config
        self._clock = clock
        self._ready = Ready(concurrency_of)
        self._in_hand: dict[int, Claim] = {}
        self._links: list[PackedRequest] = []
        self._items: list[KeyedItem] = []
        self._outcomes: list[Outcome] = []
        self._renew_at_ms = 0
        self._claim_at_ms: int | None = 0
        self._work = asyncio.Event()
        self._is_settled = False
        self._is_resting = False
        self._is_stopped = False
        self.stats = Stats()
        self.items = 0
        self.known = 0
        #: What made the buffer stop working, if anything did.
        self.error: WeftError | None = None
        #: Called before each round: the time to put in what has ended.
        self.before_round: Callable[[], None] = lambda: None
        #: Called after each round: there may be claims to take.
        self.after_round: Callable[[], None] = lambda: None

    # For the scheduler

    def put_link(self, request: PackedRequest) -> None:
        self._links.append(request)
        self._disturb()

    def put_item(self, item: KeyedItem) -> None:
        self._items.append(item)
        self._disturb()

    def put_outcome(self, outcome: Outcome) -> None:
        del self._in_hand[outcome.token]
        self._outcomes.append(outcome)
        self._disturb()

    def take(self) -> Claim | None:
        """The next request to send, if one is ready; it then is in hand until its outcome."""
        if self.error is not None or self._is_resting or len(self._links) > MAX_LINKS:
            return None
        claim = self._ready.take()
        if claim is None:
            self._work.set()
            return None
        self._in_hand[claim.token] = claim
        return claim

    def downloaded(self, host: str) -> None:
        """A request of this host is no longer under way."""
        self._ready.ended(host)
        self._work.set()

    def rest(self) -> None:
        """Take and claim no more."""
        self._is_resting = True

    @property
    def in_hand(self) -> int:
        return len(self._in_hand)

    @property
    def is_finished(self) -> bool:
        """Nothing is left to do, here or in the frontier, as far as the last round has seen."""
        if not self._is_settled:
            self._work.set()
        return self._is_settled

    def _disturb(self) -> None:
        self._is_settled = False
        self._work.set()

    # In the background

    async def run(self) -> None:
        """Work in rounds until told to stop, or until a store fails."""
        try:
            while not self._is_stopped:
                await self._round()
                await asyncio.sleep(ROUND_S)
                await self._wait_for_work()
        except WeftError as error:
            self._give_up(error)
        except Exception as problem:  # a bug of ours must end the crawl, not leave it waiting
            logger.exception("the buffer failed")
            self._give_up(WeftError(f"the buffer failed: {problem!r}"))

    def _give_up(self, error: WeftError) -> None:
        self.error = error
        self.after_round()

    def stop(self) -> None:
        """End `run` after the round that is under way."""
        self.rest()
        self._is_stopped = True
        self._work.set()

    async def flush(self) -> None:
        """Store all that was put in and give back what was not taken: the last thing to do."""
        await self._round()
        waiting = self._ready.take_all()
        await self._frontier.release([claim.token for claim in waiting])
        self.stats = await self._frontier.stats()

    async def _wait_for_work(self) -> None:
        timeout = IDLE_ROUND_S
        if self._claim_at_ms is not None and self._wanted() > 0:
            timeout = min(timeout, max(0, self._claim_at_ms - self._clock.now_ms()) / 1000)
        try:
            async with asyncio.timeout(timeout):
                await self._work.wait()
        except TimeoutError:
            pass

    async def _round(self) -> None:
        self._work.clear()
        self.before_round()
        outcomes, self._outcomes = self._outcomes, []
        items, self._items = self._items, []
        links, self._links = self._links, []
        if items:
            await self._store(items)
        if links:
            statuses = await self._frontier.add(links)
            self.known += statuses.count(AddStatus.KNOWN)
        if outcomes:
            await self._frontier.finish(outcomes)
        await self._keep_claims()
        await self._claim()
        await self._settle()
        self.after_round()

    async def _store(self, items: list[KeyedItem]) -> None:
        for sink in self._sinks:
            await sink.store(items)
        self.items += len(items)

    async def _keep_claims(self) -> None:
        """Renew what is ours and take up what others have left, three times a deadline."""
        now_ms = self._clock.now_ms()
        if now_ms < self._renew_at_ms:
            return
        self._renew_at_ms = now_ms + self._config.claim_ms // 3
        await self._frontier.renew([*self._in_hand, *self._ready.tokens()])
        if reclaimed := await self._frontier.reclaim():
            logger.warning("%d requests were left by a worker and are queued again", reclaimed)

    async def _claim(self) -> None:
        wanted = self._wanted()
        if wanted <= 0:
            return
        claimed = await self._frontier.claim(self._owner, wanted)
        self._claim_at_ms = claimed.next_at_ms
        for claim in claimed.claims:
            self._ready.put(claim)

    def _wanted(self) -> int:
        if self._is_resting:
            return 0
        return self._capacity + self._capacity // 2 - len(self._in_hand) - len(self._ready)

    async def _settle(self) -> None:
        """See whether everything is done; what is put in during this round unsettles it."""
        self.stats = await self._frontier.stats()
        is_idle = not (self._links or self._items or self._outcomes)
        self._is_settled = is_idle and self.stats.pending == 0
