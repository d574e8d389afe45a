"""How long the serving process was held up: requests that arrived meanwhile are seen late.

On a busy machine the process may not run for a while. What it sees right after that may have
arrived at any time in between. So it notes when it should have run, every few milliseconds.
"""

import asyncio
import math

TICK_S = 0.005
#: A tick that is later than this was held up.
LATE_S = 0.01
#: For this long after a holdup, connections are accepted that came meanwhile.
AFTER_S = 0.03


class Holdups:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._due_at_s = loop.time()
        #: The last holdup.
        self._from_s = self._until_s = -math.inf
        self._tick()

    def _tick(self) -> None:
        now_s = self._loop.time()
        if now_s - self._due_at_s > LATE_S:
            self._from_s, self._until_s = self._due_at_s, now_s
        self._due_at_s = now_s + TICK_S
        self._loop.call_later(TICK_S, self._tick)

    def held_up_s(self) -> float:
        """How much earlier a request that is seen now may have arrived."""
        now_s = self._loop.time()
        if now_s - self._due_at_s > LATE_S:  # the tick comes after this
            return now_s - self._due_at_s
        return now_s - self._from_s if now_s - self._until_s < AFTER_S else 0.0
