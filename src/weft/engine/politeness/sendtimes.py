"""When requests were sent to hosts.

A request passes the gate before it has a connection, so it may be sent much later than it passed.
Both moments count: the next request passes a delay after both, and is sent a delay after the last
one that was really sent.
"""

import math
from collections.abc import Callable

from weft.clock import monotonic_s

#: Hosts to remember; beyond that, the least recently fetched one is forgotten.
MAX_HOSTS = 10_000


class SendTimes:
    def __init__(self, now_s: Callable[[], float] = monotonic_s) -> None:
        self._now_s = now_s
        #: Passed or sent, whichever is later; the least recently fetched host comes first.
        self._last_at_s: dict[str, float] = {}
        self._sent_at_s: dict[str, float] = {}

    def note_passed(self, host: str) -> None:
        """A request to this host is about to be sent."""
        self._last_at_s.pop(host, None)
        self._last_at_s[host] = self._now_s()
        if len(self._last_at_s) > MAX_HOSTS:
            oldest = next(iter(self._last_at_s))
            del self._last_at_s[oldest]
            self._sent_at_s.pop(oldest, None)

    def note_sent(self, host: str, ago_s: float = 0.0) -> None:
        """A request to this host went out this long ago."""
        sent_at_s = self._now_s() - ago_s
        for times in (self._last_at_s, self._sent_at_s):
            times[host] = max(sent_at_s, times.get(host, -math.inf))

    def pass_in_s(self, host: str, delay_s: float) -> float:
        """How long it is until the next request may pass; 0 or less if it may now."""
        return self._last_at_s.get(host, -math.inf) + delay_s - self._now_s()

    def send_in_s(self, host: str, delay_s: float) -> float:
        """How long it is until one that has passed may be sent; 0 or less if it may now."""
        return self._sent_at_s.get(host, -math.inf) + delay_s - self._now_s()

    def ago_ms(self, host: str) -> int | None:
        """How long ago the last request passed or was sent; None if there was none."""
        last_at_s = self._last_at_s.get(host)
        return None if last_at_s is None else max(0, int((self._now_s() - last_at_s) * 1000))
