"""Claims: handing them out, renewing, ending and taking them back. Each call is one write."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import compress, islice, takewhile

import msgspec

from weft.clock import Clock
from weft.config import FrontierConfig
from weft.frontier import policy, turns
from weft.frontier.policy import HostRecord
from weft.frontier.rocks import layout
from weft.frontier.rocks.db import RocksDb
from weft.frontier.rocks.explain import claims, histories_of
from weft.frontier.rocks.layout import BAD, CLAIMS, FETCHED, History, number_key
from weft.frontier.rocks.line import ReadyLine
from weft.frontier.rocks.queue import Queues, set_held
from weft.frontier.rocks.unit import Unit
from weft.frontier.rocks.waiting import RocksWaiting
from weft.frontier.turns import Visitors
from weft.records import Claim, Claims, Ending, Outcome, PackedRequest, Turns, Visit


class RocksClaims:
    def __init__(
        self,
        db: RocksDb,
        queues: Queues,
        line: ReadyLine,
        waiting: RocksWaiting,
        config: FrontierConfig,
        clock: Clock,
    ) -> None:
        self._db = db
        self._queues = queues
        self._line = line
        self._waiting = waiting
        self._config = config
        self._clock = clock

    def claim(self, owner: str, limit: int, due_for_ms: int) -> Claims:
        now_ms = self._clock.now_ms()
        self._waiting.wake(now_ms, now_ms - due_for_ms)
        unit = Unit(self._db)
        line = takewhile(lambda place: place[0] <= now_ms, self._line.walk(unit, owner))
        taken: list[Claim] = []
        served: list[str] = []
        while len(taken) < limit and (places := [*islice(line, policy.hosts_for(limit))]):
            hosts = [host for _, host in places]
            quota = policy.share(limit - len(taken), len(hosts))
            for host in hosts:
                count = min(quota, limit - len(taken))
                taken += self._claim_from(unit, host, count, owner, now_ms)
            for host in hosts:
                if not policy.delay_ms(unit.host(host), host, self._config):
                    taken += self._claim_from(unit, host, limit - len(taken), owner, now_ms)
            served += hosts
        for host in served:
            self._line.leave(unit, host)
            end_ms = policy.line_end_ms(unit.host(host), host, self._config, now_ms)
            self._line.reposition(unit, host, end_ms)
        if served:
            unit.commit()
        next_in_ms = self._next_in_ms(owner, now_ms, due_for_ms)
        return Claims(taken, next_in_ms, self._shared_hosts(taken, owner))

    def _next_in_ms(self, owner: str, now_ms: int, due_for_ms: int) -> int | None:
        place = next(self._line.walk(Unit(self._db), owner), None)
        due_at_ms = self._waiting.next_at_ms()
        is_in_reach = due_at_ms is None or policy.is_in_reach(due_at_ms, now_ms, due_for_ms)
        times = (place and place[0], due_at_ms if is_in_reach else None)
        first = min((at_ms for at_ms in times if at_ms is not None), default=None)
        return None if first is None else max(0, first - now_ms)

    def _shared_hosts(self, taken: Sequence[Claim], owner: str) -> tuple[str, ...]:
        visitors = self._db.visitors
        hosts = {claim.request.host for claim in taken} & visitors.keys() if visitors else ()
        return tuple(sorted(host for host in hosts if turns.is_shared(visitors[host], owner)))

    def _claim_from(
        self, unit: Unit, host: str, count: int, owner: str, now_ms: int
    ) -> list[Claim]:
        record = unit.host(host)
        self._forget_gone(host, record, now_ms)
        set_held(unit, record, False)
        count = min(count, policy.allowance(record, host, owner, self._config, now_ms))
        taken = self._queues.take(unit, host, count)
        policy.note_claimed(record, host, owner, count, self._config, now_ms)
        unit.stats.claimed += count
        until_ms = now_ms + self._config.claim_ms
        delay_ms = policy.delay_ms(record, host, self._config)
        handed = [Claim(unit.next_token(), r, owner, until_ms, delay_ms) for r in taken]
        for claim in handed:
            unit.records.save(CLAIMS, number_key(claim.token), claim)
        return handed

    # Turns

    def visit(self, owner: str, visits: Sequence[Visit], keep_ms: int) -> list[Turns]:
        unit = Unit(self._db)
        now_ms = self._clock.now_ms()
        taken = [self._visit_host(unit, owner, visit, keep_ms, now_ms) for visit in visits]
        unit.commit()
        return taken

    def _visit_host(self, unit: Unit, owner: str, visit: Visit, keep_ms: int, now_ms: int) -> Turns:
        host = visit.host
        record = unit.host(host)
        there = self._db.visitors.setdefault(host, Visitors())
        taken = turns.take_turns(record, there, owner, visit, keep_ms, self._config, now_ms)
        if there.is_over:
            del self._db.visitors[host]
        self._line.reposition(unit, host, now_ms)
        return taken

    def _forget_gone(self, host: str, record: HostRecord, now_ms: int) -> None:
        if there := self._db.visitors.get(host):
            turns.forget_gone(there, now_ms)
            if there.is_over:
                del self._db.visitors[host]
                record.is_visited = False

    # Ending claims

    def renew(self, owner: str, tokens: Sequence[int]) -> list[bool]:
        unit = Unit(self._db)
        until_ms = self._clock.now_ms() + self._config.claim_ms
        answers = [self._renew(unit, owner, token, until_ms) for token in tokens]
        known = {*tokens}
        self._put_back(
            unit, [c for c in claims(self._db) if c.owner == owner and c.token not in known]
        )
        unit.commit()
        return answers

    def _renew(self, unit: Unit, owner: str, token: int, until_ms: int) -> bool:
        claim = unit.records.load(CLAIMS, number_key(token), Claim)
        if claim is None or claim.owner != owner:
            unit.stats.stale += 1
            return False
        unit.records.save(
            CLAIMS, number_key(token), msgspec.structs.replace(claim, until_ms=until_ms)
        )
        return True

    def finish(self, outcomes: Sequence[Outcome]) -> list[bool]:
        unit = Unit(self._db)
        now_ms = self._clock.now_ms()
        told_again: Counter[int] = Counter()
        answers = [self._finish(unit, outcome, now_ms, told_again) for outcome in outcomes]
        self._waiting.queue_at_once(unit, now_ms)
        self._forget_old(unit, told_again)
        if hour := policy.hour_of(compress(outcomes, answers), now_ms):
            unit.hours.add(hour)
        unit.commit()
        return answers

    def _finish(self, unit: Unit, outcome: Outcome, now_ms: int, told_again: Counter[int]) -> bool:
        claim = self._end_claim(unit, outcome.token)
        if claim is None:
            return False
        request = claim.request
        self._remember(unit, request, outcome, now_ms)
        # Most URLs are fetched once: what is known of them already is not looked for.
        is_last = outcome.ending is Ending.DONE and outcome.due_in_ms is None
        if not is_last or request.is_forced or request.url_fingerprint:
            told_again.update(policy.names(request))
        policy.count_ending(unit.stats, outcome.ending)
        record = unit.host(request.host)
        policy.note_outcome(record, request.host, outcome, self._config, now_ms)
        if outcome.is_host_bad:
            self._hold(unit, policy.under_its_name(request), now_ms)
        elif due_at_ms := policy.due_at_ms(outcome, now_ms):
            self._waiting.put(unit, policy.next_visit(request, outcome), due_at_ms, outcome)
        elif policy.is_given_up(outcome):
            until_ms = now_ms + self._config.bad_url_ms
            unit.records.put(BAD, number_key(request.fingerprint), number_key(until_ms))
        if not outcome.is_sent and record.ready_at_ms > now_ms:
            self._line.leave(unit, request.host)
        self._line.reposition(unit, request.host, now_ms)
        return True

    def _hold(self, unit: Unit, request: PackedRequest, now_ms: int) -> None:
        record = unit.host(request.host)
        policy.note_bad(record, self._config, now_ms)
        set_held(unit, record, True)
        self._queues.push_back(unit, request)
        self._line.reposition(unit, request.host, now_ms)

    def _remember(self, unit: Unit, request: PackedRequest, outcome: Outcome, now_ms: int) -> None:
        history = History(request.url, [policy.fetch_of(request, outcome, now_ms)])
        for fingerprint in policy.names(request):
            unit.records.save(FETCHED, layout.fetched_key(fingerprint, outcome.token), history)

    def _forget_old(self, unit: Unit, told_again: Counter[int]) -> None:
        """Make room for what this unit remembers of URLs, so many histories of each."""
        for fingerprint, new in told_again.items():
            known = histories_of(self._db, fingerprint)
            for key, _ in known[: max(0, len(known) + new - policy.MAX_FETCHES)]:
                unit.records.delete(FETCHED, key)

    def release(self, tokens: Sequence[int]) -> list[bool]:
        unit = Unit(self._db)
        known = {
            token for token in tokens if unit.records.get(CLAIMS, number_key(token)) is not None
        }
        unit.stats.stale += len(tokens) - len(known)
        unit.stats.released += len(known)
        self._give_back(unit, known)
        unit.commit()
        return [token in known for token in tokens]

    def reclaim(self, now_ms: int | None) -> int:
        """Put back what is overdue by now, or all claims."""
        overdue = [c for c in claims(self._db) if now_ms is None or c.until_ms <= now_ms]
        if overdue:
            unit = Unit(self._db)
            self._put_back(unit, overdue)
            unit.commit()
        return len(overdue)

    def _put_back(self, unit: Unit, left: Sequence[Claim]) -> None:
        """Put claims back that their owner has left, or does not know of."""
        unit.stats.reclaimed += len(left)
        for host in {claim.request.host for claim in left}:
            # Its request may have been sent at any moment until now.
            policy.note_sent(unit.host(host), host, 0, self._config, self._clock.now_ms())
        self._give_back(unit, [claim.token for claim in left])

    def _give_back(self, unit: Unit, tokens: Iterable[int]) -> None:
        # The last claimed first, so that the first claimed ends up at the head.
        for token in sorted(tokens, reverse=True):
            claim = self._end_claim(unit, token)
            assert claim is not None
            self._queues.push_back(unit, claim.request)
            self._line.reposition(unit, claim.request.host, self._clock.now_ms())

    def _end_claim(self, unit: Unit, token: int) -> Claim | None:
        claim = unit.records.load(CLAIMS, number_key(token), Claim)
        if claim is None:
            unit.stats.stale += 1
            return None
        unit.records.delete(CLAIMS, number_key(token))
        policy.note_ended(unit.host(claim.request.host), claim.owner)
        unit.stats.claimed -= 1
        return claim
