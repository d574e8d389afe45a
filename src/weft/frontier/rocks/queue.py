"""The queues of a host: rings, one for each page kind and level, served by `Order`."""

import random

from weft.frontier.policy import HostRecord
from weft.frontier.rocks import layout
from weft.frontier.rocks.layout import LEVELS, QUEUE, Ring
from weft.frontier.rocks.unit import Unit
from weft.records import Order, PackedRequest, PageKind

#: So many at least are read as a row; fewer cost less one by one.
ROW = 3


class Queues:
    def __init__(self, order: Order, rng: random.Random) -> None:
        self._order = order
        self._rng = rng

    def push(self, unit: Unit, request: PackedRequest) -> None:
        prefix, level = self._place(request)
        head, tail = unit.rings.get(prefix, level)
        unit.records.save(QUEUE, layout.entry_key(level, tail), request)
        unit.rings.set(prefix, level, Ring(head, tail + 1))
        count_queued(unit, request.host, request.kind, 1)

    def push_back(self, unit: Unit, request: PackedRequest) -> None:
        """To the head: it is the next to be served."""
        if self._order is Order.DFS:
            self.push(unit, request)
            return
        prefix, level = self._place(request)
        head, tail = unit.rings.get(prefix, level)
        unit.records.save(QUEUE, layout.entry_key(level, head - 1), request)
        unit.rings.set(prefix, level, Ring(head - 1, tail))
        count_queued(unit, request.host, request.kind, 1)

    def take(self, unit: Unit, host: str, count: int) -> list[PackedRequest]:
        """So many of the host, which has them; data before navigation."""
        taken: list[PackedRequest] = []
        while len(taken) < count:
            kind = PageKind.DATA if unit.host(host).queued_data else PageKind.NAV
            prefix = layout.queue_prefix(host, kind)
            level = unit.rings.first_level(prefix)
            assert level is not None, f"{host} counts requests that its queue does not hold"
            part = self._take_by_order(unit, prefix, level, count - len(taken))
            count_queued(unit, host, kind, -len(part))
            taken += part
        return taken

    def empty(self, unit: Unit, host: str, kind: PageKind) -> None:
        record = unit.host(host)
        count = record.queued_nav if kind is PageKind.NAV else record.queued_data
        prefix = layout.queue_prefix(host, kind)
        for family in (QUEUE, LEVELS):
            unit.delete_range(family, prefix, prefix + layout.END)
        count_queued(unit, host, kind, -count)

    def _place(self, request: PackedRequest) -> tuple[bytes, bytes]:
        prefix = layout.queue_prefix(request.host, request.kind)
        priority = request.priority if self._order is Order.PRIORITY else 0
        return prefix, layout.level_key(prefix, priority)

    def _take_by_order(
        self, unit: Unit, prefix: bytes, level: bytes, most: int
    ) -> list[PackedRequest]:
        """Of one level, as many as it has."""
        head, tail = unit.rings.get(prefix, level)
        count = min(most, tail - head)
        if self._order is Order.DFS:
            unit.rings.set(prefix, level, Ring(head, tail - count))
            return [_take_at(unit, level, tail - 1 - n) for n in range(count)]
        unit.rings.set(prefix, level, Ring(head + count, tail))
        if self._order is Order.RANDOM:
            return [self._draw(unit, level, head + n, tail) for n in range(count)]
        return _take_row(unit, level, head, count)

    def _draw(self, unit: Unit, level: bytes, head: int, tail: int) -> PackedRequest:
        """Any of them; the entry at the head moves to its place."""
        drawn = self._rng.randrange(head, tail)
        request = _take_at(unit, level, drawn)
        if drawn != head:
            unit.records.save(QUEUE, layout.entry_key(level, drawn), _take_at(unit, level, head))
        return request


def _take_row(unit: Unit, level: bytes, head: int, count: int) -> list[PackedRequest]:
    if count < ROW:
        return [_take_at(unit, level, head + n) for n in range(count)]
    keys = [layout.entry_key(level, head + n) for n in range(count)]
    taken = unit.records.load_row(QUEUE, keys, PackedRequest)
    for key in keys:
        unit.records.delete(QUEUE, key)
    return taken


def _take_at(unit: Unit, level: bytes, seq: int) -> PackedRequest:
    key = layout.entry_key(level, seq)
    request = unit.records.load(QUEUE, key, PackedRequest)
    assert request is not None, "a ring names a position that holds nothing"
    unit.records.delete(QUEUE, key)
    return request


def count_queued(unit: Unit, host: str, kind: PageKind, change: int) -> None:
    record = unit.host(host)
    if kind is PageKind.NAV:
        record.queued_nav += change
        unit.stats.queued_nav += change
    else:
        record.queued_data += change
        unit.stats.queued_data += change
    if record.is_held:
        unit.stats.held += change


def set_held(unit: Unit, record: HostRecord, is_held: bool) -> None:
    """Count the requests of a host as held, or no longer."""
    if is_held is not record.is_held:
        record.is_held = is_held
        unit.stats.held += record.queued if is_held else -record.queued
