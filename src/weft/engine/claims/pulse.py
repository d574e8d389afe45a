"""What a worker reports about itself with each sign of life."""

import os
import socket
import time
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from weft.clock import monotonic_s
from weft.cluster.status import Status
from weft.cluster.weights import Speed
from weft.reports import Rate

if TYPE_CHECKING:
    from psutil import Process


class Pulse:
    def __init__(self, node: str, now_s: Callable[[], float] = monotonic_s) -> None:
        self._node = node
        self._now_s = now_s
        self._speed = Speed()
        self._rate = Rate()

    @cached_property
    def _process(self) -> "Process":
        from psutil import Process  # here, for a crawl on an embedded store gives no sign of life

        return Process()

    def status(
        self, *, state: str, pages: int, errors: int, claims: int, buckets: int, weight: float
    ) -> Status:
        now_s = self._now_s()
        self._speed.note(pages, time.process_time(), now_s)
        return Status(
            node=self._node,
            host=socket.gethostname(),
            pid=os.getpid(),
            state=state,
            buckets=buckets,
            weight=weight,
            speed=self._speed.value,
            pages=pages,
            pages_per_s=self._rate.update(pages, now_s),
            errors=errors,
            cpu_share=self._process.cpu_percent() / 100,
            memory_bytes=self._process.memory_info().rss,
            claims=claims,
        )
