"""The only place that reads the time. Everything else is handed a clock."""

import time
from typing import Protocol


class Clock(Protocol):
    """Wall-clock time in milliseconds; the frontier's deadlines outlive the process."""

    def now_ms(self) -> int: ...


class SystemClock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000


def monotonic_s() -> float:
    """For measuring how long something took; means nothing outside this process."""
    return time.monotonic()
