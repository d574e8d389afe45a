"""The line of hosts that have something to claim, by the time from which on they can be."""

from collections.abc import Iterator

from weft.config import FrontierConfig
from weft.frontier import policy
from weft.frontier.rocks import layout
from weft.frontier.rocks.db import RocksDb
from weft.frontier.rocks.layout import READY
from weft.frontier.rocks.unit import Unit


class ReadyLine:
    def __init__(self, db: RocksDb, config: FrontierConfig) -> None:
        self._db = db
        self._config = config
        # No host stands before this key: what was taken out of the line is not walked over.
        self._front = b""

    def walk(self, unit: Unit, owner: str) -> Iterator[tuple[int, str]]:
        """The hosts that this owner may serve, by the time from which on they can be claimed."""
        for place, (key, _) in enumerate(self._db.walk(READY, self._front)):
            if place == 0:
                self._front = key
            host = key[8:].decode()
            if policy.may_serve(unit.host(host), host, owner, self._config):
                yield int.from_bytes(key[:8], "big"), host

    def reposition(self, unit: Unit, host: str, since_ms: int) -> None:
        """Keep the line true to the host's record."""
        record = unit.host(host)
        at_ms = policy.ready_at_ms(record, host, self._config, since_ms)
        if at_ms == record.ready_at_ms:
            return
        self.leave(unit, host)
        if at_ms:
            record.ready_at_ms = at_ms
            key = layout.ready_key(at_ms, host)
            unit.records.put(READY, key, b"")
            self._front = min(self._front, key)

    def leave(self, unit: Unit, host: str) -> None:
        record = unit.host(host)
        if record.ready_at_ms:
            unit.records.delete(READY, layout.ready_key(record.ready_at_ms, host))
            record.ready_at_ms = 0
