"""The frontier in plain Python: the executable specification that other backends must match.

It is written to be read, not to be fast, and forgets everything with its process. Queues are in
`queue`, pages that wait in `waiting`, what is remembered of URLs in `urls`, the rules of hosts in
`policy` and `turns`.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress, islice
from typing import Self

import msgspec

from weft.clock import Clock, SystemClock
from weft.config import FrontierConfig, HostLimits
from weft.frontier import policy, turns
from weft.frontier.base import AlsoForget
from weft.frontier.memory.queue import MemoryQueues
from weft.frontier.memory.urls import MemoryUrls
from weft.frontier.memory.waiting import MemoryWaiting
from weft.frontier.policy import HostRecord
from weft.frontier.turns import Visitors
from weft.records import (
    AddStatus,
    Claim,
    Claims,
    Explanation,
    HostState,
    Hour,
    Outcome,
    PackedRequest,
    PageKind,
    Stats,
    Turns,
    Visit,
)


class MemoryFrontier:
    restarts = 0

    def __init__(
        self,
        config: FrontierConfig | None = None,
        clock: Clock | None = None,
        rng: random.Random | None = None,
    ) -> None:
        self._config = config or FrontierConfig()
        self._clock, self._rng = clock or SystemClock(), rng or random.Random()
        self._last_token = self._finished_at = 0
        self.host_key = self._config.host_key
        self._forget()

    def limit_hosts(self, limits: Mapping[str, HostLimits | None]) -> None:
        self._config.limit_hosts(limits)

    def _forget(self) -> None:
        self._stats = Stats()
        self._hosts: dict[str, HostRecord] = {}
        self._visitors: dict[str, Visitors] = {}
        self._queues = MemoryQueues(self._config.order, self._rng)
        self._claims: dict[int, Claim] = {}
        self._waiting = MemoryWaiting()
        self._urls = MemoryUrls()
        self._keys: dict[str, str] = {}
        self._hours: list[Hour] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        pass

    async def begin(
        self, *, is_fresh: bool, is_rerun: bool, also_forget: AlsoForget | None = None
    ) -> bool:
        is_over = is_fresh or (is_rerun and self._stats.is_all_done)
        if is_over:
            self._forget()
            if also_forget:
                await also_forget()
        self._finished_at = 0
        return is_over

    async def mark_finished(self) -> None:
        self._finished_at = self._stats.added

    async def is_finished(self) -> bool:
        return self._finished_at == self._stats.added > 0

    async def add(self, requests: Sequence[PackedRequest]) -> list[AddStatus]:
        now_ms = self._clock.now_ms()
        return [self._add(request, now_ms) for request in requests]

    def _add(self, request: PackedRequest, now_ms: int) -> AddStatus:
        status = self._urls.meet(request, now_ms)
        if status is AddStatus.QUEUED:
            self._push(request)
            self._reposition(request.host, now_ms)
            self._stats.added += 1
        elif status is AddStatus.KNOWN:
            self._stats.known += 1
        elif status is AddStatus.BAD:
            self._stats.skipped_bad += 1
        self._stats.dropped = self._urls.drops
        return status

    async def learn(self, fingerprints: Sequence[int]) -> None:
        self._urls.learn(fingerprints, self._clock.now_ms())

    async def fix_keys(self, keys: Sequence[tuple[str, str]]) -> list[str]:
        for name, key in keys:
            if key:
                self._keys.setdefault(name, key)
        return [self._keys.get(name, "") for name, _ in keys]

    async def claim(self, owner: str, limit: int, *, due_for_ms: int = 0) -> Claims:
        now_ms = self._clock.now_ms()
        self._queue_again(self._waiting.take_due(now_ms - due_for_ms), now_ms)
        places = sorted((r.ready_at_ms, h) for h, r in self._hosts.items() if r.ready_at_ms)
        mine = [(at_ms, host) for at_ms, host in places if self._may_serve(host, owner)]
        line = iter([host for at_ms, host in mine if at_ms <= now_ms])
        claims: list[Claim] = []
        served: list[str] = []
        while len(claims) < limit and (hosts := [*islice(line, policy.hosts_for(limit))]):
            quota = policy.share(limit - len(claims), len(hosts))
            for host in hosts:
                count = min(quota, limit - len(claims))
                claims += self._claim_from(host, count, owner, now_ms)
            for host in filter(self._has_no_delay, hosts):
                claims += self._claim_from(host, limit - len(claims), owner, now_ms)
            served += hosts
        for host in served:
            record = self._hosts[host]
            record.ready_at_ms = 0  # to the end of the line
            self._reposition(host, policy.line_end_ms(record, host, self._config, now_ms))
        next_in_ms = self._next_in_ms(owner, now_ms, due_for_ms)
        return Claims(claims, next_in_ms, self._shared_hosts(claims, owner))

    def _next_in_ms(self, owner: str, now_ms: int, due_for_ms: int) -> int | None:
        times = [r.ready_at_ms for h, r in self._hosts.items() if self._may_serve(h, owner)]
        if policy.is_in_reach(self._waiting.next_at_ms, now_ms, due_for_ms):
            times.append(self._waiting.next_at_ms)
        first = min((at_ms for at_ms in times if at_ms), default=None)
        return None if first is None else max(0, first - now_ms)

    def _queue_again(self, requests: Iterable[PackedRequest], now_ms: int) -> None:
        """Queue pages that are due."""
        for request in requests:
            self._push(request)
            self._reposition(request.host, now_ms)
        self._stats.waiting = len(self._waiting)

    def _shared_hosts(self, claims: Sequence[Claim], owner: str) -> tuple[str, ...]:
        hosts = {claim.request.host for claim in claims} & self._visitors.keys()
        return tuple(sorted(h for h in hosts if turns.is_shared(self._visitors[h], owner)))

    def _has_no_delay(self, host: str) -> bool:
        return not policy.delay_ms(self._hosts[host], host, self._config)

    def _may_serve(self, host: str, owner: str) -> bool:
        return policy.may_serve(self._hosts[host], host, owner, self._config)

    def _claim_from(self, host: str, count: int, owner: str, now_ms: int) -> list[Claim]:
        record = self._hosts[host]
        self._forget_gone(host, now_ms)
        self._set_held(record, False)
        count = min(count, policy.allowance(record, host, owner, self._config, now_ms))
        taken = [self._take(host) for _ in range(count)]
        policy.note_claimed(record, host, owner, count, self._config, now_ms)
        self._stats.claimed += count
        until_ms = now_ms + self._config.claim_ms
        delay_ms = policy.delay_ms(record, host, self._config)
        claims = []
        for request in taken:
            self._last_token += 1
            claims.append(Claim(self._last_token, request, owner, until_ms, delay_ms))
            self._claims[self._last_token] = claims[-1]
        return claims

    async def visit(self, owner: str, visits: Sequence[Visit], *, keep_ms: int) -> list[Turns]:
        now_ms = self._clock.now_ms()
        return [self._visit(owner, visit, keep_ms, now_ms) for visit in visits]

    def _visit(self, owner: str, visit: Visit, keep_ms: int, now_ms: int) -> Turns:
        host = visit.host
        record = self._hosts.setdefault(host, HostRecord())
        self._stats.hosts = len(self._hosts)
        there = self._visitors.setdefault(host, Visitors())
        taken = turns.take_turns(record, there, owner, visit, keep_ms, self._config, now_ms)
        if there.is_over:
            del self._visitors[host]
        self._reposition(host, now_ms)
        return taken

    def _forget_gone(self, host: str, now_ms: int) -> None:
        if there := self._visitors.get(host):
            turns.forget_gone(there, now_ms)
            if there.is_over:
                del self._visitors[host]
                self._hosts[host].is_visited = False

    async def renew(self, owner: str, tokens: Sequence[int]) -> list[bool]:
        until_ms = self._clock.now_ms() + self._config.claim_ms
        answers = [self._renew(owner, token, until_ms) for token in tokens]
        unknown = {c.token for c in self._claims.values() if c.owner == owner} - {*tokens}
        self._reclaim(unknown)
        return answers

    def _renew(self, owner: str, token: int, until_ms: int) -> bool:
        claim = self._claims.get(token)
        if claim is None or claim.owner != owner:
            self._stats.stale += 1
            return False
        self._claims[token] = Claim(token, claim.request, claim.owner, until_ms, claim.delay_ms)
        return True

    async def finish(self, outcomes: Sequence[Outcome]) -> list[bool]:
        now_ms = self._clock.now_ms()
        answers = [self._finish(outcome, now_ms) for outcome in outcomes]
        self._queue_again(self._waiting.take_at_once(), now_ms)
        if hour := policy.hour_of(compress(outcomes, answers), now_ms):
            self._hours = policy.sum_hours([*self._hours, hour])
        return answers

    def _finish(self, outcome: Outcome, now_ms: int) -> bool:
        claim = self._end_claim(outcome.token)
        if claim is None:
            return False
        request = claim.request
        self._urls.note_fetch(request, policy.fetch_of(request, outcome, now_ms))
        policy.count_ending(self._stats, outcome.ending)
        record = self._hosts[request.host]
        policy.note_outcome(record, request.host, outcome, self._config, now_ms)
        if outcome.is_host_bad:
            self._hold(policy.under_its_name(request), now_ms)
        elif due_at_ms := policy.due_at_ms(outcome, now_ms):
            self._waiting.put(policy.next_visit(request, outcome), due_at_ms, outcome)
        elif policy.is_given_up(outcome):
            self._urls.note_bad(request.fingerprint, now_ms + self._config.bad_url_ms)
        if not outcome.is_sent:
            record.ready_at_ms = min(record.ready_at_ms, now_ms)
        self._reposition(request.host, now_ms)
        return True

    def _hold(self, request: PackedRequest, now_ms: int) -> None:
        record = self._hosts.setdefault(request.host, HostRecord())
        policy.note_bad(record, self._config, now_ms)
        self._set_held(record, True)
        self._push_back(request)
        self._reposition(request.host, now_ms)

    async def release(self, tokens: Sequence[int]) -> list[bool]:
        known = {token for token in tokens if token in self._claims}
        self._stats.stale += len(tokens) - len(known)
        self._stats.released += len(known)
        self._give_back(known)
        return [token in known for token in tokens]

    async def reclaim(self) -> int:
        now_ms = self._clock.now_ms()
        return self._reclaim({c.token for c in self._claims.values() if c.until_ms <= now_ms})

    def reclaim_all(self) -> int:
        """What a store of one process does when it is opened: the former owner is dead."""
        for host in self._visitors:  # each keeps its place in line until someone looks there
            self._hosts[host].is_visited = False
        self._visitors.clear()
        return self._reclaim(set(self._claims))

    def _reclaim(self, tokens: set[int]) -> int:
        self._stats.reclaimed += len(tokens)
        now_ms = self._clock.now_ms()
        for host in {self._claims[token].request.host for token in tokens}:
            # Its request may have been sent at any moment until now.
            policy.note_sent(self._hosts[host], host, 0, self._config, now_ms)
        self._give_back(tokens)
        return len(tokens)

    def _give_back(self, tokens: set[int]) -> None:
        # The last claimed first, so that the first claimed ends up at the head.
        for token in sorted(tokens, reverse=True):
            claim = self._end_claim(token)
            assert claim is not None
            self._push_back(claim.request)
            self._reposition(claim.request.host, self._clock.now_ms())

    def _end_claim(self, token: int) -> Claim | None:
        claim = self._claims.pop(token, None)
        if claim is None:
            self._stats.stale += 1
            return None
        policy.note_ended(self._hosts[claim.request.host], claim.owner)
        self._stats.claimed -= 1
        return claim

    async def stats(self) -> Stats:
        return Stats(**{name: getattr(self._stats, name) for name in Stats.__struct_fields__})

    async def next_due_in_ms(self) -> int | None:
        at_ms = self._waiting.next_at_ms
        return at_ms - self._clock.now_ms() if at_ms else None

    async def hours(self) -> list[Hour]:
        return list(self._hours)

    async def hosts(self, limit: int) -> list[HostState]:
        busy = [host for host, record in self._hosts.items() if record.queued or record.claimed]
        busy.sort(key=lambda host: (-self._hosts[host].queued, host))
        return [self._host_state(host) for host in busy[:limit]]

    def _host_state(self, host: str) -> HostState:
        return policy.host_state(self._hosts[host], host, self._config)

    async def explain(
        self, fingerprints: Sequence[int], host: str | None = None
    ) -> list[Explanation]:
        return [self._explain(fingerprint) for fingerprint in fingerprints]

    def _explain(self, fingerprint: int) -> Explanation:
        told = self._urls.tell(fingerprint)
        claim = self._find_claim(fingerprint)
        queued = self._queues.find(fingerprint)
        due_at_ms, waiting = self._waiting.find(fingerprint)
        request = claim.request if claim else queued or waiting
        state = self._host_state(request.host) if request else None
        return msgspec.structs.replace(
            told,
            url=request.url if request else told.url,
            found_on_url=self._url_of(told.found_on) if told.found_on else "",
            queued_kind=queued.kind if queued else None,
            claim=policy.explained(claim, state) if claim and state else None,
            host=state,
            due_at_ms=due_at_ms,
            payload=request.payload if request else b"",
        )

    def _find_claim(self, fingerprint: int) -> Claim | None:
        return next((c for c in self._claims.values() if c.request.is_known_as(fingerprint)), None)

    def _url_of(self, fingerprint: int) -> str:
        claim = self._find_claim(fingerprint)
        return self._urls.url_of(fingerprint) or (claim.request.url if claim else "")

    async def seen_report(self) -> None:
        return None

    async def clear(self, kind: PageKind | None = None) -> None:
        if kind is None:
            self._forget()
            return
        for host in self._hosts:
            for request in self._queues.empty(host, kind):
                self._count_queued(request, -1)
            self._reposition(host, self._clock.now_ms())
        self._waiting.forget(kind)
        self._stats.waiting = len(self._waiting)
        claimed = {claim.request.fingerprint for claim in self._claims.values()}
        self._urls.forget(kind, claimed)

    # Queues

    def _push(self, request: PackedRequest) -> None:
        self._queues.of(request.host, request.kind).push(request)
        self._count_queued(request, 1)

    def _push_back(self, request: PackedRequest) -> None:
        self._queues.of(request.host, request.kind).push_back(request)
        self._count_queued(request, 1)

    def _take(self, host: str) -> PackedRequest:
        kind = PageKind.DATA if self._hosts[host].queued_data else PageKind.NAV
        request = self._queues.of(host, kind).take()
        self._count_queued(request, -1)
        return request

    # Counting

    def _count_queued(self, request: PackedRequest, change: int) -> None:
        record = self._hosts.setdefault(request.host, HostRecord())
        self._stats.hosts = len(self._hosts)
        if request.kind is PageKind.NAV:
            record.queued_nav += change
            self._stats.queued_nav += change
        else:
            record.queued_data += change
            self._stats.queued_data += change
        if record.is_held:
            self._stats.held += change

    def _set_held(self, record: HostRecord, is_held: bool) -> None:
        if is_held is not record.is_held:
            record.is_held = is_held
            self._stats.held += record.queued if is_held else -record.queued

    def _reposition(self, host: str, since_ms: int) -> None:
        record = self._hosts[host]
        record.ready_at_ms = policy.ready_at_ms(record, host, self._config, since_ms)
