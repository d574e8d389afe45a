"""Hosts that have asked to be left alone for a while, by 429, 503 or Retry-After.

The frontier learns of each pause a moment later, and keeps it for longer than this process lives.
"""

import math
from collections.abc import Callable

from weft.clock import monotonic_s


class Pauses:
    def __init__(self, now_s: Callable[[], float] = monotonic_s) -> None:
        self._now_s = now_s
        self._until_s: dict[str, float] = {}

    def begin(self, host: str, pause_s: float) -> None:
        """Leave the host alone for this long. A longer pause that it asked for before stays."""
        until_s = self._now_s() + pause_s
        self._until_s[host] = max(until_s, self._until_s.get(host, -math.inf))

    def left_s(self, host: str) -> float:
        """How long to leave the host alone; 0 if it asked for no pause."""
        until_s = self._until_s.get(host)
        if until_s is None:
            return 0.0
        left_s = until_s - self._now_s()
        if left_s <= 0:
            del self._until_s[host]
        return max(0.0, left_s)
