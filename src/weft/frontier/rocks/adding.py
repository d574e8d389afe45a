"""Adding requests, making pages known, fixing host keys: each call is one write."""

from collections.abc import Sequence

from weft.clock import Clock
from weft.frontier import policy
from weft.frontier.rocks.db import RocksDb
from weft.frontier.rocks.layout import BAD, DROPPED, SEEN, Drop, SeenRecord, number_key
from weft.frontier.rocks.line import ReadyLine
from weft.frontier.rocks.queue import Queues
from weft.frontier.rocks.unit import Unit
from weft.records import AddStatus, PackedRequest


class RocksAdding:
    def __init__(self, db: RocksDb, queues: Queues, line: ReadyLine, clock: Clock) -> None:
        self._db = db
        self._queues = queues
        self._line = line
        self._clock = clock

    def add(self, requests: Sequence[PackedRequest]) -> list[AddStatus]:
        unit = Unit(self._db)
        now_ms = self._clock.now_ms()
        statuses = [self._add(unit, request, now_ms) for request in requests]
        unit.commit()
        return statuses

    def _add(self, unit: Unit, request: PackedRequest, now_ms: int) -> AddStatus:
        key = number_key(request.fingerprint)
        is_seen = unit.records.get(SEEN, key) is not None
        if request.dropped_by:
            return self._drop(unit, request, is_seen, now_ms)
        if is_seen and not request.is_forced:
            bad_until = unit.records.get(BAD, key)
            if bad_until is None:
                unit.stats.known += 1
                return AddStatus.KNOWN
            if int.from_bytes(bad_until, "big") > now_ms:
                unit.stats.skipped_bad += 1
                return AddStatus.BAD
        if is_seen:
            unit.records.delete(BAD, key)
        else:
            unit.records.save(SEEN, key, SeenRecord(request.kind, now_ms, request.found_on))
        self._queues.push(unit, request)
        self._line.reposition(unit, request.host, now_ms)
        unit.stats.added += 1
        return AddStatus.QUEUED

    def _drop(self, unit: Unit, request: PackedRequest, is_seen: bool, now_ms: int) -> AddStatus:
        if is_seen:
            unit.stats.known += 1
            return AddStatus.KNOWN
        key = number_key(request.fingerprint)
        if unit.records.get(DROPPED, key) is None:
            unit.stats.dropped += 1
            unit.records.save(DROPPED, key, Drop(request.dropped_by, now_ms, request.url))
        return AddStatus.DROPPED

    def learn(self, fingerprints: Sequence[int]) -> None:
        unit = Unit(self._db)
        seen = SeenRecord(policy.LEARNED_KIND, self._clock.now_ms(), 0)
        for fingerprint in fingerprints:
            key = number_key(fingerprint)
            if unit.records.get(SEEN, key) is None:
                unit.records.save(SEEN, key, seen)
        unit.commit()

    def fix_keys(self, keys: Sequence[tuple[str, str]]) -> list[str]:
        unit = Unit(self._db)
        for name, key in keys:
            if key and not unit.keys.get(name):
                unit.keys.fix(name, key)
        unit.commit()
        return [unit.keys.get(name) for name, _ in keys]
