"""Ends what takes too long, within a tenth of a second."""

from typing import Protocol

from weft.engine.http.sweep import Sweep

#: Time between two checks.
LOOK_S = 0.1


class Expiring(Protocol):
    def expire(self) -> None: ...


class Deadlines:
    """Times are those of the event loop."""

    def __init__(self) -> None:
        self._until_s: dict[Expiring, float] = {}
        self._sweep = Sweep(LOOK_S, self._expire)

    def add(self, thing: Expiring, until_s: float) -> None:
        self._until_s[thing] = until_s
        self._sweep.wake()

    def discard(self, thing: Expiring) -> None:
        self._until_s.pop(thing, None)

    def close(self) -> None:
        self._sweep.stop()

    def _expire(self, now_s: float) -> bool:
        overdue = [thing for thing, until_s in self._until_s.items() if until_s <= now_s]
        for thing in overdue:
            del self._until_s[thing]
            thing.expire()
        return bool(self._until_s)
