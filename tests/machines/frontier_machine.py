"""Hypothesis drives a frontier and the specification side by side: they never differ."""

import asyncio
import random
from collections.abc import Sequence
from typing import Any, ClassVar

import hypothesis.strategies as st
import msgspec
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from weft.config import FrontierConfig, HostLimits
from weft.frontier import Frontier, MemoryFrontier
from weft.records import (
    Claim,
    Claims,
    Ending,
    Explanation,
    Order,
    Outcome,
    PackedRequest,
    PageKind,
    Turns,
    Visit,
)
from weft.testing.clock import FakeClock

TWO_HOSTS = "c.example"
HOSTS = ("a", "b", TWO_HOSTS)
OWNERS = ("me", "you", "she")
HOUR_MS = 3_600_000
#: So soon pages are due again; None: never.
DUE_IN_MS = (None, None, 0, 1, 30, 200, 2_000, 50_000, 70_000, 400_000, HOUR_MS)


def name_in(host: str, number: int) -> str:
    """The host name of a request: one of the host keys stands for two."""
    return f"www.{host}" if host == TWO_HOSTS and number % 2 else host


packed = st.builds(
    lambda number, host, kind, priority, is_forced, dropped_by: PackedRequest(
        fingerprint=number * 10 + HOSTS.index(host),
        url=f"http://{name_in(host, number)}/{number}",
        host=host,
        kind=kind,
        priority=priority,
        is_forced=is_forced,
        dropped_by=dropped_by,
        found_on=number // 2,
        url_fingerprint=number * 10 + 5 + HOSTS.index(host) if number % 5 == 0 else 0,
    ),
    number=st.integers(0, 15),
    host=st.sampled_from(HOSTS),
    kind=st.sampled_from(PageKind),
    priority=st.integers(-2, 2),
    is_forced=st.sampled_from([False, False, False, True]),
    dropped_by=st.sampled_from(["", "", "", "", "depth"]),
)

limits = st.builds(
    HostLimits,
    delay_ms=st.sampled_from([0, 0, 50]),
    concurrency=st.integers(1, 4),
    workers=st.sampled_from([None, 1, 2]),
)


class FrontierMachine(RuleBasedStateMachine):
    #: The orders that the frontier serves exactly like the specification.
    ORDERS: ClassVar[Sequence[Order]] = list(Order)
    #: Opening it puts back what was claimed.
    RECLAIMS_AT_OPEN: ClassVar[bool] = True
    #: When a URL was first seen is read from what became of it: that is not sure for requests that
    #: were forced or cleared.
    KNOWS_FIRST_SIGHT: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.claims: list[Claim] = []
        # Tokens of the specification → those of the frontier
        self.tokens: dict[int, int] = {}
        self.unsure: set[int] = set()
        # Host → the sharing that its visitors last heard of
        self.sharings: dict[str, int] = {}
        self.is_all_unsure = False
        # Page, and when it was due
        self.due: set[tuple[int, int]] = set()

    def make(self, config: FrontierConfig, clock: FakeClock) -> Frontier:
        """The frontier, not opened; again and again at the same place."""
        raise NotImplementedError

    @initialize(data=st.data(), everyone=limits, single=limits, workers=st.integers(1, 3))
    def start(
        self, data: st.DataObject, everyone: HostLimits, single: HostLimits, workers: int
    ) -> None:
        self.clock = FakeClock()
        self.config = FrontierConfig(
            order=data.draw(st.sampled_from(self.ORDERS)),
            limits=everyone,
            limits_by_host={"b": single},
            claim_ms=1_000,
            backoff_ms=20,
            max_backoff_ms=100,
            max_pause_ms=200,
            bad_url_ms=300,
            bad_host_ms=150,
            workers_per_host=workers,
        )
        self.model = MemoryFrontier(self.config, self.clock, random.Random(7))
        self.open()

    def open(self) -> None:
        self.frontier = self.make(self.config, self.clock)
        self.runner.run(self.frontier.__aenter__())

    def ask(self, frontier: Frontier, verb: str, *args: Any, **named: Any) -> Any:
        return self.runner.run(getattr(frontier, verb)(*args, **named))

    def both(self, verb: str, *args: Any, **named: Any) -> Any:
        model = self.ask(self.model, verb, *args, **named)
        assert self.ask(self.frontier, verb, *args, **named) == model
        return model

    def theirs(self, token: int) -> int:
        return self.tokens[token]

    @rule(single=limits | st.none())
    def limit(self, single: HostLimits | None) -> None:
        for frontier in (self.model, self.frontier):
            frontier.limit_hosts({"b": single})

    @rule(requests=st.lists(packed, max_size=12))
    def add(self, requests: list[PackedRequest]) -> None:
        self.add_some(requests)

    def add_some(self, requests: Sequence[PackedRequest]) -> None:
        self.unsure |= {request.fingerprint for request in requests if request.is_forced}
        self.both("add", requests)

    @rule(
        owner=st.sampled_from(OWNERS),
        limit=st.integers(0, 7),
        due_for_ms=st.sampled_from([0, 0, 1, 10_000]),
    )
    def claim(self, owner: str, limit: int, due_for_ms: int) -> None:
        self.claim_some(owner, limit, due_for_ms)

    def claim_some(self, owner: str, limit: int, due_for_ms: int = 0) -> list[Claim]:
        wanted = {"due_for_ms": due_for_ms}
        model: Claims = self.ask(self.model, "claim", owner, limit, **wanted)
        got: Claims = self.ask(self.frontier, "claim", owner, limit, **wanted)
        assert [_tokenless(c) for c in got.claims] == [_tokenless(c) for c in model.claims]
        self.check_next_in(got.next_in_ms, model.next_in_ms)
        assert got.shared_hosts == model.shared_hosts
        for mine, other in zip(model.claims, got.claims, strict=True):
            self.tokens[mine.token] = other.token
        self.claims += model.claims
        return model.claims

    @precondition(lambda self: self.claims)
    @rule(data=st.data())
    def finish(self, data: st.DataObject) -> None:
        # Claims stay in the list, so that stale tokens come up too.
        chosen = data.draw(st.lists(st.sampled_from(self.claims), max_size=4))
        outcomes = [
            Outcome(
                token=claim.token,
                ending=data.draw(st.sampled_from(Ending)),
                status=data.draw(st.sampled_from([0, 200, 404, 429, 503])),
                retry_after_ms=data.draw(st.sampled_from([0, 0, 30, 10_000])),
                crawl_delay_ms=data.draw(st.sampled_from([0, 0, 0, 40])),
                is_host_bad=data.draw(st.sampled_from([False, False, False, True])),
                note=data.draw(st.sampled_from(["", "ü"])),
                sent_ago_ms=data.draw(st.sampled_from([None, 0, 10, 60])),
                items=data.draw(st.sampled_from([0, 0, 1, 3])),
                is_sent=data.draw(st.booleans()),
                due_in_ms=self.due_in(data, claim),
                again=data.draw(st.sampled_from([None, None, _again(claim)])),
            )
            for claim in chosen
        ]
        self.finish_some(outcomes)

    def finish_some(self, outcomes: Sequence[Outcome]) -> None:
        model = self.ask(self.model, "finish", outcomes)
        theirs = [msgspec.structs.replace(o, token=self.theirs(o.token)) for o in outcomes]
        assert self.ask(self.frontier, "finish", theirs) == model

    @rule(requests=st.lists(packed, min_size=4, max_size=12), data=st.data())
    def visit_pages(self, requests: list[PackedRequest], data: st.DataObject) -> None:
        """What a crawl does all the time; many pages wait then."""
        self.add_some(requests)
        claims = self.claim_some("me", len(requests))
        self.finish_some(
            [
                Outcome(claim.token, Ending.DONE, status=200, due_in_ms=self.due_in(data, claim))
                for claim in claims
            ]
        )

    def check_next_in(self, got: int | None, model: int | None) -> None:
        assert got == model

    def due_in(self, data: st.DataObject, claim: Claim) -> int | None:
        """Of requests for the same page that are due together, none comes before the other."""
        due_in_ms: int | None = data.draw(st.sampled_from(DUE_IN_MS))
        if due_in_ms is None:
            return None
        page, now_ms = claim.request.fingerprint, self.clock.now_ms()
        while (page, now_ms + due_in_ms) in self.due:
            due_in_ms += 1
        self.due.add((page, now_ms + due_in_ms))
        return due_in_ms

    @precondition(lambda self: self.claims)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        chosen = data.draw(st.lists(st.sampled_from(self.claims), max_size=4))
        model = self.ask(self.model, "release", [claim.token for claim in chosen])
        theirs = [self.theirs(claim.token) for claim in chosen]
        assert self.ask(self.frontier, "release", theirs) == model

    @precondition(lambda self: self.claims)
    @rule(data=st.data(), owner=st.sampled_from(OWNERS), is_all=st.booleans())
    def renew(self, data: st.DataObject, owner: str, is_all: bool) -> None:
        own = [claim for claim in self.claims if claim.owner == owner]
        chosen = own if is_all else data.draw(st.lists(st.sampled_from(self.claims), max_size=6))
        model = self.ask(self.model, "renew", owner, [claim.token for claim in chosen])
        theirs = [self.theirs(claim.token) for claim in chosen]
        assert self.ask(self.frontier, "renew", owner, theirs) == model

    @rule(owner=st.sampled_from(OWNERS), hosts=st.sets(st.sampled_from(HOSTS)), data=st.data())
    def visit(self, owner: str, hosts: set[str], data: st.DataObject) -> None:
        visits = [
            Visit(
                host,
                concurrency=data.draw(st.integers(1, 3)),
                under_way=data.draw(st.integers(0, 2)),
                unused=data.draw(st.sampled_from([0, 0, 1])),
                waiting=data.draw(st.integers(0, 2)),
                sharing=data.draw(st.sampled_from([0, self.sharings.get(host, 0)])),
                sent_ago_ms=data.draw(st.sampled_from([None, 0, 10, 60])),
                status=data.draw(st.sampled_from([0, 200, 429])),
                retry_after_ms=data.draw(st.sampled_from([0, 0, 30, 10_000])),
                crawl_delay_ms=data.draw(st.sampled_from([0, 0, 0, 40])),
            )
            for host in sorted(hosts)
        ]
        taken: list[Turns] = self.both("visit", owner, visits, keep_ms=200)
        for visit, turns in zip(visits, taken, strict=True):
            self.sharings[visit.host] = turns.sharing

    @rule()
    def reclaim(self) -> None:
        self.both("reclaim")

    @rule(ms=st.sampled_from([1, 10, 49, 50, 150, 300, 1_000, 35_000, 100_000, HOUR_MS]))
    def wait(self, ms: int) -> None:
        self.clock.advance(ms)

    @rule(
        names=st.lists(st.tuples(st.sampled_from(["x", "y", "z"]), st.sampled_from(["", "1", "2"])))
    )
    def fix_keys(self, names: list[tuple[str, str]]) -> None:
        self.both("fix_keys", names)

    @rule(kind=st.sampled_from([None, *PageKind]))
    def clear(self, kind: PageKind | None) -> None:
        self.is_all_unsure = kind is not None
        self.both("clear", kind)
        # What waits as another kind than it is known as may be added again, but not at once.
        self.clock.advance(1)

    @rule(is_fresh=st.sampled_from([False, False, True]), is_rerun=st.booleans())
    def begin(self, is_fresh: bool, is_rerun: bool) -> None:
        self.both("begin", is_fresh=is_fresh, is_rerun=is_rerun)

    @rule()
    def mark_finished(self) -> None:
        self.both("mark_finished")
        self.both("is_finished")

    @rule()
    def reopen(self) -> None:
        """Where one process has the store, what is open when it is opened again is put back."""
        self.runner.run(self.frontier.__aexit__())
        self.open()
        if self.RECLAIMS_AT_OPEN:
            self.model.reclaim_all()

    @rule(number=st.integers(0, 15), host=st.sampled_from(HOSTS), is_told=st.booleans())
    def explain(self, number: int, host: str, is_told: bool) -> None:
        place = number * 10 + HOSTS.index(host)
        asked = [place, place + 5]
        # What is held for a host that does not exist may be elsewhere.
        where = host if is_told and host != TWO_HOSTS else None
        model = self.ask(self.model, "explain", asked, where)
        got = self.ask(self.frontier, "explain", asked, where)
        assert [self._plain(e) for e in got] == [self._plain(e) for e in model]

    def _plain(self, told: Explanation) -> Explanation:
        """What is sure of an explanation."""
        is_unsure = self.is_all_unsure or told.fingerprint in self.unsure
        if is_unsure and not self.KNOWS_FIRST_SIGHT:
            told = msgspec.structs.replace(told, seen_at_ms=None, found_on=0, found_on_url="")
        claim = _tokenless(told.claim) if told.claim else None
        fetches = tuple(sorted(told.fetches, key=str))
        return msgspec.structs.replace(told, claim=claim, fetches=fetches)

    @invariant()
    def they_agree(self) -> None:
        if hasattr(self, "model"):
            stats = self.both("stats")
            assert stats.queued >= stats.held >= 0
            assert stats.claimed >= 0
            assert stats.waiting >= 0
            self.both("next_due_in_ms")
            self.both("hosts", 99)
            hours = self.both("hours")
            assert sum(hour.pages for hour in hours) == stats.done
            assert sum(hour.failed for hour in hours) == stats.failed

    def teardown(self) -> None:
        if hasattr(self, "frontier"):
            self.runner.run(self.frontier.__aexit__())
        self.runner.close()


def _again(claim: Claim) -> PackedRequest:
    """Another request for the page of a claim."""
    request = claim.request
    kind = PageKind(1 - request.kind)
    return msgspec.structs.replace(
        request, kind=kind, priority=-request.priority, payload=b"again", is_forced=False
    )


def _tokenless(claim: Claim) -> Claim:
    return msgspec.structs.replace(claim, token=0)
