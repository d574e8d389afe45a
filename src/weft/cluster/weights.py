"""The weight of a worker: its speed relative to the others, so that it gets its share of the work.

Its speed is the number of pages that it handles per second of CPU time. That depends on the machine
and the spider, not on how much there is to do, so it does not change with the share. Weights are
coarse and change rarely, because each change moves buckets.
"""

from collections.abc import Iterable
from statistics import median

#: Weights are multiples of this.
STEP = 0.25
LEAST, MOST = 0.25, 8.0
#: A weight changes when the measured one differs by more than half a step and this share of it: a
#: speed that varies by a tenth never changes it.
HYSTERESIS = 0.15
#: Share of a new measurement in the smoothed speed.
SMOOTHING = 0.2
#: Pages and share of a core that a measurement needs: an idle worker shows nothing.
LEAST_PAGES = 50
LEAST_SHARE = 0.3


def smoothed(speed: float, measured: float) -> float:
    """The speed after one more measurement; 0: there was none before."""
    return measured if not speed else speed + SMOOTHING * (measured - speed)


def next_weight(weight: float, speed: float, others: Iterable[float]) -> float:
    """The weight of a worker with this speed, given the speeds of the others; 0: not known yet."""
    known = [other for other in others if other > 0]
    if speed <= 0 or not known:
        return weight
    wanted = min(MOST, max(LEAST, speed / median([speed, *known])))
    if abs(wanted - weight) <= STEP / 2 + HYSTERESIS * weight:
        return weight
    return min(MOST, max(LEAST, round(wanted / STEP) * STEP))


class Speed:
    """Measures pages per second of CPU time."""

    def __init__(self) -> None:
        self._last: tuple[int, float, float] | None = None
        #: 0: not known yet.
        self.value = 0.0

    def note(self, pages: int, cpu_s: float, at_s: float) -> None:
        """Record the totals so far, in pages and in CPU time."""
        if self._last is None:
            self._last = (pages, cpu_s, at_s)
            return
        more_pages, more_cpu_s, more_s = (
            pages - self._last[0],
            cpu_s - self._last[1],
            at_s - self._last[2],
        )
        if more_pages < LEAST_PAGES:
            return
        if more_cpu_s > 0 and more_cpu_s >= LEAST_SHARE * more_s:
            self.value = smoothed(self.value, more_pages / more_cpu_s)
        self._last = (pages, cpu_s, at_s)
