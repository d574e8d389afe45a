"""The only place that reads the time. Everything else is handed a clock."""

import time
from typing import Protocol

# One that goes on while the machine sleeps, where the platform has it: claims become overdue
# meanwhile. Linux has BOOTTIME; MONOTONIC goes on with macOS, as does Python's own with Windows.
_CLOCK: int | None = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))


class Clock(Protocol):
    """Wall-clock time in milliseconds; the frontier's deadlines outlive the process."""

    def now_ms(self) -> int: ...


class SystemClock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000


def monotonic_s() -> float:
    """For measuring how long something took, sleep of the machine included; means nothing outside
    this process."""
    return time.monotonic() if _CLOCK is None else time.clock_gettime(_CLOCK)
