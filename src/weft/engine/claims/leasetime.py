"""How long this worker can be sure of its leases.

Others may take a lease that is not kept in time, and its holder may be the last to know. So the
holder keeps a time limit of its own, counted from the moment when it *asked*.
"""

import asyncio
import math
from collections.abc import Callable

#: Share of a lease's time kept as a margin: clocks differ, and cutting takes time.
MARGIN = 0.1


class LeaseTime:
    def __init__(
        self, lease_s: float, after_lapse: Callable[[], None], now_s: Callable[[], float]
    ) -> None:
        """`after_lapse` is called when the time is over."""
        self._lease_s = lease_s
        self._after_lapse = after_lapse
        self._now_s = now_s
        self._beaten_at_s = -math.inf
        self._sure_until_s = -math.inf
        self._lapse: asyncio.TimerHandle | None = None

    @property
    def is_sure(self) -> bool:
        """False if others may have taken our buckets."""
        return self._now_s() < self._sure_until_s

    def left_s(self) -> float:
        """How much of the time is left."""
        return self._sure_until_s - self._now_s()

    def silent_s(self) -> float:
        """How long ago the last beat was."""
        return self._now_s() - self._beaten_at_s

    def extend(self, asked_at_s: float) -> None:
        """The leases were kept by a call made at this time. The keeper calls this in its thread."""
        self._sure_until_s = max(self._sure_until_s, asked_at_s + self._lease_s * (1 - MARGIN))

    def note_beaten(self, asked_at_s: float) -> None:
        """The leases were kept by a beat that began at this time."""
        self._beaten_at_s = self._now_s()
        self.extend(asked_at_s)
        left_s = self.left_s()
        if left_s <= 0:
            return  # the time before this one is also over, which was reported then
        self.close()
        self._lapse = asyncio.get_running_loop().call_later(left_s, self._note_lapse)

    def _note_lapse(self) -> None:
        left_s = self.left_s()
        if left_s > 0:  # the keeper has kept them
            self._lapse = asyncio.get_running_loop().call_later(left_s, self._note_lapse)
        else:
            self._after_lapse()

    def close(self) -> None:
        """Report no lapse."""
        if self._lapse is not None:
            self._lapse.cancel()
