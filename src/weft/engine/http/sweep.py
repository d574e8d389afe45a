"""One timer for many things, instead of one for each: most of those would only be cancelled."""

import asyncio
from collections.abc import Callable


class Sweep:
    """Calls `visit` repeatedly, from `wake` until it returns False: nothing is left."""

    def __init__(self, every_s: float, visit: Callable[[float], bool]) -> None:
        self._every_s = every_s
        self._visit = visit
        self._timer: asyncio.TimerHandle | None = None

    def wake(self) -> None:
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._every_s, self._sweep, loop)

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        if self._visit(loop.time()):
            self.wake()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
