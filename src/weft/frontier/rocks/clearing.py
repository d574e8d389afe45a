"""Emptying a frontier, or one page kind of it."""

import msgspec

from weft.clock import Clock
from weft.frontier.rocks import layout
from weft.frontier.rocks.db import RocksDb
from weft.frontier.rocks.explain import claims
from weft.frontier.rocks.layout import (
    BAD,
    END,
    FETCHED,
    HOSTS,
    SEEN,
    History,
    SeenRecord,
    number_key,
)
from weft.frontier.rocks.line import ReadyLine
from weft.frontier.rocks.queue import Queues
from weft.frontier.rocks.unit import Unit
from weft.frontier.rocks.waiting import RocksWaiting
from weft.records import PageKind


class RocksClearing:
    def __init__(
        self, db: RocksDb, queues: Queues, line: ReadyLine, waiting: RocksWaiting, clock: Clock
    ) -> None:
        self._db = db
        self._queues = queues
        self._line = line
        self._waiting = waiting
        self._clock = clock

    def clear_all(self) -> None:
        unit = Unit(self._db)
        for family in layout.FAMILIES:
            unit.delete_range(family, b"", END)
        unit.reset_stats()
        unit.hours.forget()
        unit.keys.forget()
        unit.commit()
        self._db.visitors.clear()
        self._waiting.look_again()

    def clear_kind(self, kind: PageKind) -> None:
        unit = Unit(self._db)
        now_ms = self._clock.now_ms()
        for key, _ in self._db.walk(HOSTS):
            host = key.decode()
            self._queues.empty(unit, host, kind)
            self._line.reposition(unit, host, now_ms)
        self._waiting.forget(unit, kind)
        claimed = {number_key(claim.request.fingerprint) for claim in claims(self._db)}
        for key, raw in self._db.walk(SEEN):
            if key not in claimed and msgspec.msgpack.decode(raw, type=SeenRecord).kind is kind:
                unit.records.delete(SEEN, key)
                unit.records.delete(BAD, key)
        for key, raw in self._db.walk(FETCHED):
            history = msgspec.msgpack.decode(raw, type=History)
            fetches = [fetch for fetch in history.fetches if fetch.kind is not kind]
            if fetches:
                unit.records.save(FETCHED, key, History(history.url, fetches))
            else:
                unit.records.delete(FETCHED, key)
        unit.commit()
