"""The frontier on RocksDB: no server, one process, everything on disk.

Each call is one write batch, which RocksDB writes to its log before it answers: the call has
happened or it has not, whenever the process is killed. All calls run in one thread of their own,
one after the other, so a slow disk never holds up the crawl. RocksDB lets only one process open
the store; so whatever is still claimed when it is opened belongs to a process that is dead, and
goes back to its queue at once.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress, islice, takewhile
from pathlib import Path
from typing import Self, TypeVar, TypeVarTuple

import msgspec
from rocksdict import AccessType, Rdict

from weft.clock import Clock, SystemClock
from weft.config import FrontierConfig
from weft.errors import (
    StoreError,
    StoreFormatError,
    StoreLockedError,
    StoreMissingError,
    store_error,
)
from weft.frontier import policy, turns
from weft.frontier.base import AlsoForget
from weft.frontier.policy import HostRecord
from weft.frontier.rocks import layout
from weft.frontier.rocks.explain import busiest_hosts, claims, explain, histories_of
from weft.frontier.rocks.layout import (
    BAD,
    CLAIMS,
    DROPPED,
    END,
    FETCHED,
    HOSTS,
    READY,
    SEEN,
    Drop,
    History,
    Seen,
    number_key,
)
from weft.frontier.rocks.queue import Queues, set_held
from weft.frontier.rocks.unit import Database, Unit
from weft.frontier.turns import Visitors
from weft.records import (
    AddStatus,
    Claim,
    Claims,
    Ending,
    Explanation,
    HostKey,
    HostState,
    Hour,
    Outcome,
    PackedRequest,
    PageKind,
    Stats,
    Turns,
    Visit,
)
from weft.thread import WorkThread

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")

#: Fingerprints that one write makes known.
LEARN_BATCH = 10_000

_FORMAT = b"format"
# How many requests had been added when the crawl ended by itself: it means nothing once the
# frontier was cleared, even if the process died right after that.
_FINISHED = b"finished"
_HOST_KEY = b"host_key"
_FORMATS = [str(number).encode() for number in (layout.FORMAT, *layout.OLDER_FORMATS)]

# What RocksDB says when another process has the store open, or this one; and when the store has
# column families that it was not told of.
_LOCKED = ("While lock file", "lock hold by current process")
_NEW_FAMILIES = "Column families not opened"


class RocksFrontier:
    restarts = 0

    def __init__(
        self,
        path: Path,
        config: FrontierConfig | None = None,
        clock: Clock | None = None,
        rng: random.Random | None = None,
        *,
        is_read_only: bool = False,
    ) -> None:
        self._path = path
        self._config = config or FrontierConfig()
        self._clock = clock or SystemClock()
        self._queues = Queues(self._config.order, rng or random.Random())
        self._is_read_only = is_read_only
        self._thread = WorkThread("weft-frontier")
        self._database: Database | None = None
        self.host_key = self._config.host_key
        # No host stands in line before this key: what was taken out of the line is not walked over.
        self._front = b""

    async def __aenter__(self) -> Self:
        try:
            await self._run(self._open)
        except BaseException:
            self._thread.stop()
            raise
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        try:
            await self._run(self._close)
        finally:
            self._thread.stop()

    async def begin(
        self, *, is_fresh: bool, is_rerun: bool, also_forget: AlsoForget | None = None
    ) -> bool:
        is_over = is_fresh or (is_rerun and await self.is_finished())
        if is_over:
            await self.clear()
            if also_forget:
                await also_forget()
        await self._run(self._set_finished, 0)
        return is_over

    async def mark_finished(self) -> None:
        await self._run(lambda: self._set_finished(self._db.meta().stats.added))

    async def is_finished(self) -> bool:
        return await self._run(self._is_finished)

    async def add(self, requests: Sequence[PackedRequest]) -> list[AddStatus]:
        return await self._run(self._add_all, requests)

    async def learn(self, fingerprints: Sequence[int]) -> None:
        for first in range(0, len(fingerprints), LEARN_BATCH):
            await self._run(self._learn, fingerprints[first : first + LEARN_BATCH])

    async def fix_keys(self, keys: Sequence[tuple[str, str]]) -> list[str]:
        return await self._run(self._fix_keys, keys)

    async def claim(self, owner: str, limit: int) -> Claims:
        return await self._run(self._claim, owner, limit)

    async def visit(self, owner: str, visits: Sequence[Visit], *, keep_ms: int) -> list[Turns]:
        return await self._run(self._visit_all, owner, visits, keep_ms)

    async def renew(self, owner: str, tokens: Sequence[int]) -> list[bool]:
        return await self._run(self._renew_all, owner, tokens)

    async def finish(self, outcomes: Sequence[Outcome]) -> list[bool]:
        return await self._run(self._finish_all, outcomes)

    async def release(self, tokens: Sequence[int]) -> list[bool]:
        return await self._run(self._release_all, tokens)

    async def reclaim(self) -> int:
        return await self._run(self._reclaim, self._clock.now_ms())

    async def stats(self) -> Stats:
        return await self._run(lambda: self._db.meta().stats)

    async def hours(self) -> list[Hour]:
        return await self._run(lambda: self._db.hours())

    async def hosts(self, limit: int) -> list[HostState]:
        return await self._run(lambda: busiest_hosts(self._db, limit, self._config))

    async def explain(
        self, fingerprints: Sequence[int], host: str | None = None
    ) -> list[Explanation]:
        return await self._run(
            lambda: [explain(self._db, f, host, self._config) for f in fingerprints]
        )

    async def clear(self, kind: PageKind | None = None) -> None:
        await self._run(self._clear_all if kind is None else lambda: self._clear_kind(kind))

    async def _run(self, call: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
        try:
            return await self._thread.run(call, *arguments)
        except Exception as problem:
            # RocksDB's errors come as bare Exception; of those with a type of their own only
            # OSError speaks of the store.
            if type(problem) is Exception or isinstance(problem, OSError):
                raise store_error(str(self._path), problem) from problem
            raise

    @property
    def _db(self) -> Database:
        if self._database is None:
            raise StoreError(f"the store {self._path} is not open")
        return self._database

    # Opening

    def _open(self) -> None:
        access = AccessType.read_write()
        if self._is_read_only:
            if not layout.is_database(self._path):
                raise StoreMissingError(f"there is no frontier in {self._path}")
            access = AccessType.read_only(False)
        else:
            self._path.mkdir(parents=True, exist_ok=True)
        try:
            families = layout.family_options()
            db = Rdict(str(self._path), layout.database_options(), families, access)
        except Exception as problem:
            self._explain_failed_open(str(problem))
            raise
        self._check_format(db)
        self._database = Database(db)
        self._take_host_key()
        self._front = b""  # another process may have had the store meanwhile
        if not self._is_read_only:
            self._reclaim(None)

    def _explain_failed_open(self, problem: str) -> None:
        if any(words in problem for words in _LOCKED):
            raise StoreLockedError(
                f"the store {self._path} is in use by another process; wait for it to end, "
                "stop it, or choose another store with --store"
            )
        if _NEW_FAMILIES in problem:
            raise StoreFormatError(
                f"the store {self._path} was written by a newer Weft; "
                "upgrade Weft, or choose another store with --store"
            )

    def _check_format(self, db: Rdict) -> None:
        raw = db.get(_FORMAT)
        if raw is not None and raw not in _FORMATS:
            db.close()
            theirs = raw.decode(errors="replace")
            raise StoreFormatError(
                f"the store {self._path} has format {theirs}, this Weft knows {layout.FORMAT}; "
                "upgrade Weft, or choose another store with --store"
            )

    def _take_host_key(self) -> None:
        """What the job was begun with; before its first request that is for us to say."""
        if not self._is_read_only and not self._db.meta().stats.added:
            self._set_host_key(self._config.host_key)
        elif raw := self._db.db.get(_HOST_KEY):
            self.host_key = HostKey(raw.decode())
        else:
            self.host_key = HostKey.HOST
            if not self._is_read_only:
                self._set_host_key(self.host_key)

    def _set_host_key(self, host_key: HostKey) -> None:
        number = layout.PLAIN_FORMAT if host_key is HostKey.HOST else layout.FORMAT
        self._db.db[_FORMAT] = str(number).encode()
        self._db.db[_HOST_KEY] = host_key.encode()
        self.host_key = host_key

    def _close(self) -> None:
        if self._database is not None:
            self._database.db.close()
            self._database = None

    # Beginning and finishing

    def _set_finished(self, added: int) -> None:
        self._db.db[_FINISHED] = str(added).encode()

    def _is_finished(self) -> bool:
        added = self._db.meta().stats.added
        return added > 0 and self._db.db.get(_FINISHED) == str(added).encode()

    # Adding

    def _add_all(self, requests: Sequence[PackedRequest]) -> list[AddStatus]:
        unit = Unit(self._db)
        now_ms = self._clock.now_ms()
        statuses = [self._add(unit, request, now_ms) for request in requests]
        unit.commit()
        return statuses

    def _add(self, unit: Unit, request: PackedRequest, now_ms: int) -> AddStatus:
        key = number_key(request.fingerprint)
        is_seen = unit.get(SEEN, key) is not None
        if request.dropped_by:
            return self._drop(unit, request, is_seen, now_ms)
        if is_seen and not request.is_forced:
            bad_until = unit.get(BAD, key)
            if bad_until is None:
                unit.stats.known += 1
                return AddStatus.KNOWN
            if int.from_bytes(bad_until, "big") > now_ms:
                unit.stats.skipped_bad += 1
                return AddStatus.BAD
        if is_seen:
            unit.delete(BAD, key)
        else:
            unit.save(SEEN, key, Seen(request.kind, now_ms, request.found_on))
        self._queues.push(unit, request)
        self._reposition(unit, request.host, now_ms)
        unit.stats.added += 1
        return AddStatus.QUEUED

    def _drop(self, unit: Unit, request: PackedRequest, is_seen: bool, now_ms: int) -> AddStatus:
        if is_seen:
            unit.stats.known += 1
            return AddStatus.KNOWN
        key = number_key(request.fingerprint)
        if unit.get(DROPPED, key) is None:
            unit.stats.dropped += 1
            unit.save(DROPPED, key, Drop(request.dropped_by, now_ms, request.url))
        return AddStatus.DROPPED

    def _learn(self, fingerprints: Sequence[int]) -> None:
        unit = Unit(self._db)
        seen = Seen(policy.LEARNED_KIND, self._clock.now_ms(), 0)
        for fingerprint in fingerprints:
            key = number_key(fingerprint)
            if unit.get(SEEN, key) is None:
                unit.save(SEEN, key, seen)
        unit.commit()

    def _fix_keys(self, keys: Sequence[tuple[str, str]]) -> list[str]:
        unit = Unit(self._db)
        for name, key in keys:
            if key and not unit.fixed_key(name):
                unit.fix_key(name, key)
        unit.commit()
        return [unit.fixed_key(name) for name, _ in keys]

    # Claiming

    def _claim(self, owner: str, limit: int) -> Claims:
        unit = Unit(self._db)
        now_ms = self._clock.now_ms()
        line = takewhile(lambda place: place[0] <= now_ms, self._line(unit, owner))
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
            self._leave_line(unit, host)
            end_ms = policy.line_end_ms(unit.host(host), host, self._config, now_ms)
            self._reposition(unit, host, end_ms)
        if served:
            unit.commit()
        first = next(self._line(Unit(self._db), owner), None)
        next_in_ms = None if first is None else max(0, first[0] - now_ms)
        return Claims(taken, next_in_ms, self._shared_hosts(taken, owner))

    def _shared_hosts(self, taken: Sequence[Claim], owner: str) -> tuple[str, ...]:
        visitors = self._db.visitors
        hosts = {claim.request.host for claim in taken} & visitors.keys() if visitors else ()
        return tuple(sorted(host for host in hosts if turns.is_shared(visitors[host], owner)))

    def _line(self, unit: Unit, owner: str) -> Iterator[tuple[int, str]]:
        """The hosts that this owner may serve, by the time from which on they can be claimed."""
        for place, (key, _) in enumerate(self._db.walk(READY, self._front)):
            if place == 0:
                self._front = key
            host = key[8:].decode()
            if policy.may_serve(unit.host(host), host, owner, self._config):
                yield int.from_bytes(key[:8], "big"), host

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
            unit.save(CLAIMS, number_key(claim.token), claim)
        return handed

    # Turns

    def _visit_all(self, owner: str, visits: Sequence[Visit], keep_ms: int) -> list[Turns]:
        unit = Unit(self._db)
        now_ms = self._clock.now_ms()
        taken = [self._visit(unit, owner, visit, keep_ms, now_ms) for visit in visits]
        unit.commit()
        return taken

    def _visit(self, unit: Unit, owner: str, visit: Visit, keep_ms: int, now_ms: int) -> Turns:
        host = visit.host
        record = unit.host(host)
        there = self._db.visitors.setdefault(host, Visitors())
        taken = turns.take_turns(record, there, owner, visit, keep_ms, self._config, now_ms)
        if there.is_over:
            del self._db.visitors[host]
        self._reposition(unit, host, now_ms)
        return taken

    def _forget_gone(self, host: str, record: HostRecord, now_ms: int) -> None:
        if there := self._db.visitors.get(host):
            turns.forget_gone(there, now_ms)
            if there.is_over:
                del self._db.visitors[host]
                record.is_visited = False

    # Ending claims

    def _renew_all(self, owner: str, tokens: Sequence[int]) -> list[bool]:
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
        claim = unit.load(CLAIMS, number_key(token), Claim)
        if claim is None or claim.owner != owner:
            unit.stats.stale += 1
            return False
        unit.save(CLAIMS, number_key(token), msgspec.structs.replace(claim, until_ms=until_ms))
        return True

    def _finish_all(self, outcomes: Sequence[Outcome]) -> list[bool]:
        unit = Unit(self._db)
        now_ms = self._clock.now_ms()
        told_again: Counter[int] = Counter()
        answers = [self._finish(unit, outcome, now_ms, told_again) for outcome in outcomes]
        self._forget_old(unit, told_again)
        if hour := policy.hour_of(compress(outcomes, answers), now_ms):
            unit.add_hour(hour)
        unit.commit()
        return answers

    def _finish(self, unit: Unit, outcome: Outcome, now_ms: int, told_again: Counter[int]) -> bool:
        claim = self._end_claim(unit, outcome.token)
        if claim is None:
            return False
        request = claim.request
        self._remember(unit, request, outcome, now_ms)
        # Most URLs are fetched once: what is known of them already is not looked for.
        if outcome.ending is not Ending.DONE or request.is_forced or request.url_fingerprint:
            told_again.update(policy.names(request))
        policy.count_ending(unit.stats, outcome.ending)
        record = unit.host(request.host)
        policy.note_outcome(record, request.host, outcome, self._config, now_ms)
        if outcome.is_host_bad:
            self._hold(unit, policy.under_its_name(request), now_ms)
        elif outcome.ending is Ending.FAILED:
            until_ms = now_ms + self._config.bad_url_ms
            unit.put(BAD, number_key(request.fingerprint), number_key(until_ms))
        self._reposition(unit, request.host, now_ms)
        return True

    def _hold(self, unit: Unit, request: PackedRequest, now_ms: int) -> None:
        record = unit.host(request.host)
        policy.note_bad(record, self._config, now_ms)
        set_held(unit, record, True)
        self._queues.push_back(unit, request)
        self._reposition(unit, request.host, now_ms)

    def _remember(self, unit: Unit, request: PackedRequest, outcome: Outcome, now_ms: int) -> None:
        history = History(request.url, [policy.fetch_of(request, outcome, now_ms)])
        for fingerprint in policy.names(request):
            unit.save(FETCHED, layout.fetched_key(fingerprint, outcome.token), history)

    def _forget_old(self, unit: Unit, told_again: Counter[int]) -> None:
        """Make room for what this unit remembers of URLs, so many histories of each."""
        for fingerprint, new in told_again.items():
            known = histories_of(self._db, fingerprint)
            for key, _ in known[: max(0, len(known) + new - policy.MAX_FETCHES)]:
                unit.delete(FETCHED, key)

    def _release_all(self, tokens: Sequence[int]) -> list[bool]:
        unit = Unit(self._db)
        known = {token for token in tokens if unit.get(CLAIMS, number_key(token)) is not None}
        unit.stats.stale += len(tokens) - len(known)
        unit.stats.released += len(known)
        self._give_back(unit, known)
        unit.commit()
        return [token in known for token in tokens]

    def _reclaim(self, now_ms: int | None) -> int:
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
            self._reposition(unit, claim.request.host, self._clock.now_ms())

    def _end_claim(self, unit: Unit, token: int) -> Claim | None:
        claim = unit.load(CLAIMS, number_key(token), Claim)
        if claim is None:
            unit.stats.stale += 1
            return None
        unit.delete(CLAIMS, number_key(token))
        policy.note_ended(unit.host(claim.request.host), claim.owner)
        unit.stats.claimed -= 1
        return claim

    # Clearing

    def _clear_all(self) -> None:
        unit = Unit(self._db)
        for family in layout.FAMILIES:
            unit.delete_range(family, b"", END)
        unit.reset_stats()
        unit.forget_hours()
        unit.forget_keys()
        unit.commit()
        self._db.visitors.clear()
        self._set_host_key(self._config.host_key)

    def _clear_kind(self, kind: PageKind) -> None:
        unit = Unit(self._db)
        now_ms = self._clock.now_ms()
        for key, _ in self._db.walk(HOSTS):
            host = key.decode()
            self._queues.empty(unit, host, kind)
            self._reposition(unit, host, now_ms)
        claimed = {number_key(claim.request.fingerprint) for claim in claims(self._db)}
        for key, raw in self._db.walk(SEEN):
            if key not in claimed and msgspec.msgpack.decode(raw, type=Seen).kind is kind:
                unit.delete(SEEN, key)
                unit.delete(BAD, key)
        for key, raw in self._db.walk(FETCHED):
            history = msgspec.msgpack.decode(raw, type=History)
            fetches = [fetch for fetch in history.fetches if fetch.kind is not kind]
            if fetches:
                unit.save(FETCHED, key, History(history.url, fetches))
            else:
                unit.delete(FETCHED, key)
        unit.commit()

    # The line of ready hosts

    def _reposition(self, unit: Unit, host: str, since_ms: int) -> None:
        """Keep the line of ready hosts true to the host's record."""
        record = unit.host(host)
        at_ms = policy.ready_at_ms(record, host, self._config, since_ms)
        if at_ms == record.ready_at_ms:
            return
        self._leave_line(unit, host)
        if at_ms:
            record.ready_at_ms = at_ms
            key = layout.ready_key(at_ms, host)
            unit.put(READY, key, b"")
            self._front = min(self._front, key)

    def _leave_line(self, unit: Unit, host: str) -> None:
        record = unit.host(host)
        if record.ready_at_ms:
            unit.delete(READY, layout.ready_key(record.ready_at_ms, host))
            record.ready_at_ms = 0
