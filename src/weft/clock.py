"""The only place that reads the time. Everything else is given a clock."""

import time
from datetime import date, datetime
from typing import Protocol

# A clock that also runs while the machine sleeps, if the platform has one: claims become overdue
# meanwhile. On Linux that is BOOTTIME, on macOS MONOTONIC, on Windows Python's own.
_CLOCK: int | None = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))


class Clock(Protocol):
    """Wall-clock time in milliseconds; the frontier's deadlines outlive the process."""

    def now_ms(self) -> int: ...


class SystemClock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000


def today() -> date:
    """The day in the time zone of this machine."""
    return datetime.fromtimestamp(SystemClock().now_ms() / 1000).astimezone().date()


def monotonic_s() -> float:
    """For measuring durations, including sleep of the machine; meaningless outside this process."""
    return time.monotonic() if _CLOCK is None else time.clock_gettime(_CLOCK)
