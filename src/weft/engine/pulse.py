"""What a worker tells about itself with each sign of life."""

import os
import socket
import time
from collections import deque
from collections.abc import Callable

import psutil

from weft.clock import monotonic_s
from weft.cluster.status import Status
from weft.cluster.weights import Speed

#: Rates are those of so many signs of life.
WINDOW = 10


class Pulse:
    def __init__(self, node: str, now_s: Callable[[], float] = monotonic_s) -> None:
        self._node = node
        self._now_s = now_s
        self._process = psutil.Process()
        self._speed = Speed()
        #: Time, pages, CPU time.
        self._past: deque[tuple[float, int, float]] = deque(maxlen=WINDOW)

    def status(
        self, *, state: str, pages: int, errors: int, claims: int, buckets: int, weight: float
    ) -> Status:
        now_s, cpu_s = self._now_s(), time.process_time()
        self._speed.note(pages, cpu_s, now_s)
        self._past.append((now_s, pages, cpu_s))
        since_s, pages_then, cpu_then_s = self._past[0]
        elapsed_s = max(now_s - since_s, 1e-9)
        return Status(
            node=self._node,
            host=socket.gethostname(),
            pid=os.getpid(),
            state=state,
            buckets=buckets,
            weight=weight,
            speed=self._speed.value,
            pages=pages,
            pages_per_s=(pages - pages_then) / elapsed_s,
            errors=errors,
            cpu_share=(cpu_s - cpu_then_s) / elapsed_s,
            memory_bytes=self._process.memory_info().rss,
            claims=claims,
        )
