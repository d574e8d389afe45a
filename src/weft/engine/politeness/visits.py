"""This worker's visits to hosts in the frontier, where it takes turns.

A side request takes a turn, and so does each claim of a shared host (see `frontier.turns`). A
request that needs a turn asks for one and waits. A background task visits all hosts for which there
is something to report or to ask in one call, one call at a time. So visits come in order, and while
one is under way the next one collects what comes in. Hosts where turns are taken are visited about
every second anyway: a worker that is silent loses its turns.

A turn is valid for some time only, counted from the moment of asking.
"""

import asyncio
import logging
import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from weft.clock import monotonic_s
from weft.engine.politeness.gate import Gate
from weft.engine.politeness.turntaker import TurnTaker
from weft.engine.politeness.visitedhosts import FIRST_PAUSE_S, VisitedHost, VisitedHosts
from weft.errors import StoreError, WeftError
from weft.frontier.base import GivesTurns
from weft.frontier.policy import OVERLOADED
from weft.records import Turns, Visit

logger = logging.getLogger(__name__)

#: Time between two visits to a host where turns are taken; and the minimum number of visits within
#: the time after which a visitor is forgotten.
BEAT_S = 1.0
BEATS = 5
#: Share of a turn's time kept as a margin: clocks differ, and sending takes time.
MARGIN = 0.1
#: How long leaving all hosts may take.
LEAVE_S = 2.0


class Visits:
    def __init__(
        self,
        frontier: GivesTurns,
        gate: Gate,
        *,
        owner: str,
        concurrency_of: Callable[[str], int],
        keep_s: float,
        now_s: Callable[[], float] = monotonic_s,
    ) -> None:
        """`keep_s`: how long after its last visit a worker is forgotten, with its turns."""
        self._frontier = frontier
        self._gate = gate
        self._owner = owner
        self._concurrency_of = concurrency_of
        self._keep_s = keep_s
        self._beat_s = min(BEAT_S, keep_s / BEATS)
        self._now_s = now_s
        self._hosts = hosts = VisitedHosts(now_s)
        #: How requests take the turns that the visits bring.
        self.turns = TurnTaker(hosts, now_s, self._beat_s)
        self._task: asyncio.Future[None] | None = None
        self._is_closed = False
        #: Called each time we hear that a host wants to be left alone, and for how many ms.
        self.after_pause: Callable[[str, int], None] = lambda host, pause_ms: None
        #: Called when the store has failed for good.
        self.after_error: Callable[[WeftError], None] = lambda error: None

    # News about hosts

    def note_answer(self, host: str, status: int, retry_after_ms: int) -> None:
        """How a side request was answered."""
        known = self._hosts[host]
        is_bad = status in OVERLOADED
        if is_bad or known.status not in OVERLOADED:
            known.status = status
        if is_bad:
            known.retry_after_ms = max(known.retry_after_ms, retry_after_ms)
        self._hosts.tell(known, is_urgent=is_bad)

    def note_crawl_delay(self, host: str, crawl_delay_ms: int) -> None:
        known = self._hosts[host]
        known.crawl_delay_ms = crawl_delay_ms
        self._hosts.tell(known, is_urgent=True)

    def note_shared(self, hosts: Iterable[str]) -> None:
        """Others send to these hosts, or want to: from now on claims take turns too."""
        for host in hosts:
            known = self._hosts[host]
            known.calls += 1
            self._hosts.shared.add(host)
            self._hosts.tell(known)

    # In the background

    def start(self) -> None:
        self._task = asyncio.ensure_future(self._run())

    async def close(self) -> None:
        """Leave all hosts. If that takes too long, the frontier forgets us after a while."""
        self._is_closed = True
        self._hosts.work.set()
        if self._task is None:
            return
        try:
            with suppress(StoreError, TimeoutError):
                async with asyncio.timeout(LEAVE_S):
                    await asyncio.shield(self._task)
                    left = [Visit(host, concurrency=1) for host in self._hosts]
                    await self._frontier.visit(self._owner, left, keep_ms=1)
        finally:
            self._task.cancel()

    async def _run(self) -> None:
        """Run until closed, or until the store fails."""
        try:
            while not self._is_closed:
                self._hosts.work.clear()
                due, next_at_s = self._due()
                if due:
                    await self._visit(due)
                else:
                    await self._wait_for_work(next_at_s)
        except WeftError as error:
            self.after_error(error)
        except Exception as problem:  # a bug in Weft must end the crawl, not leave it waiting
            logger.exception("the visits failed")
            self.after_error(WeftError(f"the visits of this worker failed: {problem!r}"))

    def _due(self) -> tuple[list[str], float]:
        """The hosts to visit now, and when the next will be due."""
        now_s = self._now_s()
        due = []
        next_at_s = math.inf
        for host in self._hosts:
            known = self._hosts[host]
            at_s = known.visit_at_s
            if self._wanted(host, known) > 0:
                at_s = min(at_s, known.ask_at_s)
            if at_s <= now_s:
                due.append(host)
            elif at_s < math.inf:
                next_at_s = min(next_at_s, at_s)
            elif not known.side_waiting:
                self._hosts.forget(host)  # no longer needed
        return due, next_at_s

    def _wanted(self, host: str, known: VisitedHost) -> int:
        """How many turns to ask for."""
        if not known.is_asking:
            return 0
        return max(1, self._waiting(host, known)) - known.at_hand(self._now_s())

    def _waiting(self, host: str, known: VisitedHost) -> int:
        """Requests that need a turn."""
        return self._gate.standing(host) if known.is_shared else known.side_waiting

    async def _wait_for_work(self, until_s: float) -> None:
        timeout_s = None if until_s == math.inf else max(0.0, until_s - self._now_s())
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._hosts.work.wait()

    async def _visit(self, hosts: Sequence[str]) -> None:
        asked_at_s = self._now_s()
        visits = [self._make_visit(host) for host in hosts]
        calls = [self._hosts[host].calls for host in hosts]
        keep_ms = round(self._keep_s * 1000)
        taken = await self._frontier.visit(self._owner, visits, keep_ms=keep_ms)
        for visit, before, turns in zip(visits, calls, taken, strict=True):
            self._note_visited(visit, before, turns, asked_at_s)

    def _make_visit(self, host: str) -> Visit:
        known = self._hosts[host]
        # Turns that nothing waits for any more are given back by not reporting them.
        known.turns = min(known.at_hand(self._now_s()), self._waiting(host, known))
        under_way = self._gate.under_way(host) if known.is_shared else known.under_way
        # Nobody knows when these will be sent, as with turns that are not used yet.
        unsent = min(under_way, self._gate.unsent(host))
        visit = Visit(
            host,
            concurrency=self._concurrency_of(host),
            under_way=under_way - unsent,
            unused=known.turns + unsent,
            waiting=max(0, self._wanted(host, known)),
            sharing=known.sharing,
            sent_ago_ms=self._gate.times.ago_ms(host),
            status=known.status,
            retry_after_ms=known.retry_after_ms,
            crawl_delay_ms=known.crawl_delay_ms,
        )
        known.status = known.retry_after_ms = known.crawl_delay_ms = 0
        known.visit_at_s = math.inf
        return visit

    def _note_visited(self, visit: Visit, calls: int, turns: Turns, asked_at_s: float) -> None:
        known = self._hosts[visit.host]
        now_s = self._now_s()
        known.turns += turns.given
        known.turns_until_s = asked_at_s + self._keep_s * (1 - MARGIN)
        self._note_sharing(visit.host, known, calls, turns.sharing)
        if turns.pause_ms:
            self.after_pause(visit.host, turns.pause_ms)
        if known.turns or known.under_way or known.is_shared:
            known.visit_at_s = min(known.visit_at_s, now_s + self._beat_s)
        if turns.next_in_ms is not None:
            known.pause_s = FIRST_PAUSE_S
            known.ask_at_s = now_s + min(turns.next_in_ms / 1000, self._beat_s)
        elif visit.waiting:
            known.back_off(now_s, has_turn=turns.given > 0)
        if turns.given or not known.is_shared:
            known.news.set()

    def _note_sharing(self, host: str, known: VisitedHost, calls: int, sharing: int) -> None:
        if sharing != known.sharing:
            known.sharing = sharing
            known.visit_at_s = self._now_s()  # to report that we know
        if not sharing and known.calls == calls:
            known.calls = 0
        if known.is_shared:
            self._hosts.shared.add(host)
        else:
            self._hosts.shared.discard(host)
