"""The visits of this worker at hosts in the frontier, where it takes turns.

A side request takes a turn, and so does each claim of a host that is shared (see `frontier.turns`).
Who needs a turn says so and waits; a background task visits all hosts that there is something to
tell of, or to ask for, in one call, and one call at a time. So visits come in order, and while one
is under way the next gathers what comes. Hosts that turns are taken of are visited every second or
so anyway: a worker that is not heard of loses its turns.

A turn that was given is good for some time only, counted from the moment of asking.
"""

import asyncio
import logging
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from scrapy import Request

from weft.clock import monotonic_s
from weft.engine.gate import Gate
from weft.errors import StoreError, WeftError
from weft.frontier.base import GivesTurns
from weft.frontier.policy import OVERLOADED
from weft.records import Turns, Visit

logger = logging.getLogger(__name__)

#: What nobody waits for is told within this time.
LAZY_S = 0.25
#: Time between two visits of a host that turns are taken of; and how many in the time after which
#: a visitor is forgotten, at least.
BEAT_S = 1.0
BEATS = 5
#: Pauses between two questions whether there is a turn, which double.
FIRST_PAUSE_S = 0.01
LONGEST_PAUSE_S = 0.1
#: Share of the time of a turn that is not counted on: clocks differ, and sending takes a while.
MARGIN = 0.1
#: How long to say good-bye.
LEAVE_S = 2.0


@dataclass(slots=True)
class _Host:
    """What is known of a host that turns are taken of."""

    #: Side requests that wait for a turn.
    side_waiting: int = 0
    #: The first in line needs a turn, and has waited for the time of its host already.
    is_asking: bool = False
    #: Turns at hand, and until when.
    turns: int = 0
    turns_until_s: float = -math.inf
    #: Requests that took a turn and are under way.
    under_way: int = 0
    #: The sharing that we keep to; 0: none.
    sharing: int = 0
    #: How often we were told that it is shared, since we last heard that it is not.
    calls: int = 0
    #: What is to be told with the next visit.
    status: int = 0
    retry_after_ms: int = 0
    crawl_delay_ms: int = 0
    #: When it is to be visited, whatever happens.
    visit_at_s: float = math.inf
    #: When it may be worth asking for turns.
    ask_at_s: float = -math.inf
    pause_s: float = FIRST_PAUSE_S
    news: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_shared(self) -> bool:
        return self.sharing > 0 or self.calls > 0


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
        """`keep_s`: so long after its last visit a worker is forgotten with its turns."""
        self._frontier = frontier
        self._gate = gate
        self._owner = owner
        self._concurrency_of = concurrency_of
        self._keep_s = keep_s
        self._beat_s = min(BEAT_S, keep_s / BEATS)
        self._now_s = now_s
        self._hosts: dict[str, _Host] = {}
        self._shared: set[str] = set()
        self._takers: dict[Request, str] = {}
        self._work = asyncio.Event()
        self._task: asyncio.Future[None] | None = None
        self._is_closed = False
        #: Called with a host that wants to be left alone for so many ms, however often it is heard.
        self.after_pause: Callable[[str, int], None] = lambda host, pause_ms: None
        #: Called when the store has failed for good.
        self.after_error: Callable[[WeftError], None] = lambda error: None

    # For those who pass the gate

    def is_free(self, host: str) -> bool:
        """Whether claims of this host need no turns."""
        return host not in self._shared

    @contextmanager
    def side_turn(self, request: Request, host: str) -> Iterator["HostTurn"]:
        """That of a side request, while it waits."""
        known = self._host(host)
        known.side_waiting += 1
        try:
            yield HostTurn(self, request, host, is_side=True)
        finally:
            known.side_waiting -= 1
            self._work.set()

    def claim_turn(self, request: Request, host: str) -> "HostTurn":
        """That of a claim, which may need none."""
        return HostTurn(self, request, host, is_side=False)

    def take(self, request: Request, host: str) -> bool:
        """Use a turn, if there is one."""
        known = self._hosts.get(host)
        if known is None or not known.turns or self._now_s() >= known.turns_until_s:
            return False
        known.turns -= 1
        known.under_way += 1
        self._takers[request] = host
        self._tell(known)
        return True

    async def wait(self, host: str) -> None:
        """Until there may be a turn, but not for long; who is first in line waits."""
        known = self._host(host)
        known.news.clear()
        known.is_asking = True
        self._work.set()
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._beat_s):
                    await known.news.wait()
        finally:
            known.is_asking = False

    def leave(self, request: Request) -> None:
        """It is answered, or has failed; whether it took a turn or not."""
        host = self._takers.pop(request, None)
        if host is not None:
            known = self._hosts[host]
            known.under_way -= 1
            self._tell(known)

    # What is heard of hosts

    def note_answer(self, host: str, status: int, retry_after_ms: int) -> None:
        """How a side request was answered."""
        known = self._host(host)
        is_bad = status in OVERLOADED
        if is_bad or known.status not in OVERLOADED:
            known.status = status
        if is_bad:
            known.retry_after_ms = max(known.retry_after_ms, retry_after_ms)
        self._tell(known, is_urgent=is_bad)

    def note_crawl_delay(self, host: str, crawl_delay_ms: int) -> None:
        known = self._host(host)
        known.crawl_delay_ms = crawl_delay_ms
        self._tell(known, is_urgent=True)

    def note_shared(self, hosts: Iterable[str]) -> None:
        """Others send to these hosts, or want to: from now on claims take turns too."""
        for host in hosts:
            known = self._host(host)
            known.calls += 1
            self._shared.add(host)
            self._tell(known)

    def _host(self, host: str) -> _Host:
        return self._hosts.setdefault(host, _Host())

    def _tell(self, known: _Host, *, is_urgent: bool = False) -> None:
        """Something has changed. If the host is ours alone, nobody waits to hear of it."""
        lazy_s = 0.0 if is_urgent or known.is_shared else LAZY_S
        known.visit_at_s = min(known.visit_at_s, self._now_s() + lazy_s)
        self._work.set()

    # In the background

    def start(self) -> None:
        self._task = asyncio.ensure_future(self._run())

    async def close(self) -> None:
        """Leave all hosts; if that takes long, we are forgotten there after a while."""
        self._is_closed = True
        self._work.set()
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
        """Until it is closed, or until the store fails."""
        try:
            while not self._is_closed:
                self._work.clear()
                due, next_at_s = self._due()
                if due:
                    await self._visit(due)
                else:
                    await self._wait_for_work(next_at_s)
        except WeftError as error:
            self.after_error(error)
        except Exception as problem:  # a bug of ours must end the crawl, not leave it waiting
            logger.exception("the visits failed")
            self.after_error(WeftError(f"the visits of this worker failed: {problem!r}"))

    def _due(self) -> tuple[list[str], float]:
        """The hosts to visit now; if there are none, when there will be."""
        now_s = self._now_s()
        due = []
        next_at_s = math.inf
        for host, known in [*self._hosts.items()]:
            at_s = known.visit_at_s
            if self._wanted(host, known) > 0:
                at_s = min(at_s, known.ask_at_s)
            if at_s <= now_s:
                due.append(host)
            elif at_s < math.inf:
                next_at_s = min(next_at_s, at_s)
            elif not known.side_waiting:
                del self._hosts[host]  # nothing to do with it any more
        return due, next_at_s

    def _wanted(self, host: str, known: _Host) -> int:
        """Turns that are to be asked for."""
        if not known.is_asking:
            return 0
        return max(1, self._waiting(host, known)) - self._at_hand(known)

    def _waiting(self, host: str, known: _Host) -> int:
        """Requests that need a turn."""
        return self._gate.standing(host) if known.is_shared else known.side_waiting

    def _at_hand(self, known: _Host) -> int:
        return known.turns if self._now_s() < known.turns_until_s else 0

    async def _wait_for_work(self, until_s: float) -> None:
        timeout_s = None if until_s == math.inf else max(0.0, until_s - self._now_s())
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._work.wait()

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
        # What nobody waits for any more is given back by not telling of it.
        known.turns = min(self._at_hand(known), self._waiting(host, known))
        visit = Visit(
            host,
            concurrency=self._concurrency_of(host),
            under_way=self._gate.under_way(host) if known.is_shared else known.under_way,
            unused=known.turns,
            waiting=max(0, self._wanted(host, known)),
            sharing=known.sharing,
            sent_ago_ms=self._gate.sent_ago_ms(host),
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
            known.pause_s = FIRST_PAUSE_S if turns.given else known.pause_s
            known.ask_at_s = now_s + known.pause_s
            known.pause_s = min(2 * known.pause_s, LONGEST_PAUSE_S)
        if turns.given or not known.is_shared:
            known.news.set()

    def _note_sharing(self, host: str, known: _Host, calls: int, sharing: int) -> None:
        if sharing != known.sharing:
            known.sharing = sharing
            known.visit_at_s = self._now_s()  # that we know it now
        if not sharing and known.calls == calls:
            known.calls = 0
        if known.is_shared:
            self._shared.add(host)
        else:
            self._shared.discard(host)


@dataclass(slots=True, frozen=True)
class HostTurn:
    """The turn of one request."""

    visits: Visits
    request: Request
    host: str
    is_side: bool

    def take(self) -> bool:
        needs_none = not self.is_side and self.visits.is_free(self.host)
        return needs_none or self.visits.take(self.request, self.host)

    async def wait(self) -> None:
        await self.visits.wait(self.host)
