"""Sweeps away Twisted's cancelled timers while a crawl runs.

Scrapy sets two timers for each request, minutes ahead, and cancels them. Twisted forgets cancelled
timers only when some timer fires; in a fast crawl none does for minutes, and they pile up by the
hundred thousand. So one fires every second.
"""

from scrapy.utils.reactor import is_reactor_installed
from twisted.internet.task import LoopingCall

#: Time between two sweeps.
SWEEP_S = 1.0


class TimerSweep:
    def __init__(self) -> None:
        self._loop: LoopingCall | None = None

    def start(self) -> None:
        if is_reactor_installed():  # Scrapy can run without one
            self._loop = LoopingCall(lambda: None)
            self._loop.start(SWEEP_S)

    def stop(self) -> None:
        if self._loop is not None and self._loop.running:
            self._loop.stop()
