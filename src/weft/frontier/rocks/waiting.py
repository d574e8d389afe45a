"""Pages that are visited again, by the time at which they are due."""

from collections.abc import Iterable
from itertools import islice, takewhile

import msgspec

from weft.frontier import policy
from weft.frontier.rocks.db import RocksDb
from weft.frontier.rocks.layout import END, WAITING, due_at_ms, waiting_key
from weft.frontier.rocks.line import ReadyLine
from weft.frontier.rocks.queue import Queues
from weft.frontier.rocks.unit import Unit
from weft.records import Outcome, PackedRequest, PageKind


class RocksWaiting:
    def __init__(self, db: RocksDb, queues: Queues, line: ReadyLine) -> None:
        self._db = db
        self._queues = queues
        self._line = line
        # No page stands before this key: what has come back is not walked over.
        self._front = b""
        # The first, so that nothing is read while none is due; END: there is none; None: unknown.
        self._first: bytes | None = None

    def put(self, unit: Unit, request: PackedRequest, at_ms: int, outcome: Outcome) -> None:
        if policy.is_due_at_once(outcome):
            unit.at_once.append(request)
            return
        key = waiting_key(at_ms, request.fingerprint, outcome.token)
        unit.records.save(WAITING, key, request)
        unit.stats.waiting += 1
        self._front = min(self._front, key)
        if self._first is not None:
            self._first = min(self._first, key)

    def queue_at_once(self, unit: Unit, now_ms: int) -> None:
        """Queue what does not wait."""
        self._queue(unit, sorted(unit.at_once, key=lambda page: page.fingerprint), now_ms)

    def next_at_ms(self) -> int | None:
        """When the first is due; None: nothing waits."""
        if self._first is None:
            walk = self._db.walk(WAITING, self._front)
            self._first = next((key for key, _ in walk), END)
        return None if self._first == END else due_at_ms(self._first)

    def wake(self, now_ms: int, until_ms: int) -> None:
        """Queue pages that are due until then, in a write of its own."""
        at_ms = self.next_at_ms()
        if at_ms is None or at_ms > until_ms:
            return
        unit = Unit(self._db)
        walk = self._db.walk(WAITING, self._front)
        due = takewhile(lambda pair: due_at_ms(pair[0]) <= until_ms, walk)
        taken = [*islice(due, policy.WAKE_MOST)]
        for key, _ in taken:
            unit.records.delete(WAITING, key)
        pages = [msgspec.msgpack.decode(raw, type=PackedRequest) for _, raw in taken]
        self._queue(unit, pages, now_ms)
        unit.stats.waiting -= len(taken)
        self._first = None
        unit.commit()
        if taken:
            self._front = taken[-1][0]

    def _queue(self, unit: Unit, pages: Iterable[PackedRequest], now_ms: int) -> None:
        for request in pages:
            self._queues.push(unit, request)
            self._line.reposition(unit, request.host, now_ms)

    def forget(self, unit: Unit, kind: PageKind) -> None:
        for key, raw in self._db.walk(WAITING):
            if msgspec.msgpack.decode(raw, type=PackedRequest).kind is kind:
                unit.records.delete(WAITING, key)
                unit.stats.waiting -= 1
        self.look_again()

    def look_again(self) -> None:
        """After something was deleted."""
        self._first = None
