"""One crawl of one contestant, observed from outside.

The server shows when the first page was requested, when the last, and how many; that is the same
for all, whatever they do before and after. The meter measures the cost.
"""

import json
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import Popen
from typing import NamedTuple

import psutil

from bench.crawlers import meter
from bench.crawlers.check import Verdict, check
from bench.crawlers.cores import Cores, kept_to
from bench.crawlers.field import Contestant, Pace, Plan
from bench.crawlers.meter import Reading, log_of, read
from bench.crawlers.nginx import Nginx
from bench.crawlers.site import Kept
from launchers.redis import RedisServer
from weft.redis.server import log_end, start_child

POLL_S = 0.02
#: Adding up the memory of all processes costs more than a request to the server.
MEMORY_S = 0.25
#: A contestant that requests nothing for this long is stuck.
STALL_S = 60.0
#: The part of the crawl after which memory is compared with its end.
EARLY = 0.1
#: How long a meter may take to stop its processes.
END_S = 20.0

Watch = Callable[[int], None]
#: What runs while a crawl is suspended.
Interlude = Callable[[], None]


class Trial(NamedTuple):
    """The cost of one crawl, over all processes of the contestant."""

    cpu_s: float
    #: The part of it that was used before the first request.
    first_cpu_s: float
    redis_cpu_s: float
    #: From start to end, including what it does before the first page and after the last.
    wall_s: float
    #: Between the requests for the first and for the last page.
    crawl_s: float
    #: Requests that the server received.
    served: int
    peak_bytes: int
    #: Resident memory when a tenth of the pages had been requested, and when all had.
    early_bytes: int
    late_bytes: int
    verdict: Verdict
    #: Why it failed; empty if it did not.
    problem: str

    @property
    def paging_cpu_s(self) -> float:
        """Without the start, but with the end."""
        return self.cpu_s - self.first_cpu_s

    @property
    def is_right(self) -> bool:
        return self.verdict.is_right and not self.problem


class Arena(NamedTuple):
    """What contestants need around them."""

    redis: RedisServer
    peers: Path
    #: Where they run.
    cores: Cores


def run_trial(
    contestant: Contestant,
    kept: Kept,
    nginx: Nginx,
    pace: Pace,
    arena: Arena,
    watch: Watch,
    interludes: Sequence[Interlude] = (),
) -> Trial:
    """Suspends the crawl for each of the interludes, which are spread evenly over its pages."""
    with tempfile.TemporaryDirectory(prefix="weft-bench-", ignore_cleanup_errors=True) as made:
        redis_url = arena.redis.url if contestant.has_redis else ""
        plan = Plan(kept.starts, pace, Path(made), contestant.workers, redis_url, arena.peers)
        if contestant.has_redis:
            arena.redis.ask("FLUSHALL")
        redis_s = _redis_cpu_s(arena.redis)
        observer = _Observer(nginx, kept.site.total, watch, interludes)
        reading = _run(contestant.commands(plan), plan.directory, observer, arena.cores)
        redis_s = _redis_cpu_s(arena.redis) - redis_s if contestant.has_redis else 0.0
        return _trial(reading, observer, redis_s, plan, kept.titles)


def _trial(
    reading: Reading | None,
    observer: "_Observer",
    redis_s: float,
    plan: Plan,
    titles: Mapping[str, str],
) -> Trial:
    return Trial(
        cpu_s=reading.cpu_s if reading else 0.0,
        first_cpu_s=observer.first_cpu_s,
        redis_cpu_s=redis_s,
        wall_s=reading.wall_s - observer.held_s if reading else 0.0,
        crawl_s=observer.crawl_s,
        served=observer.served,
        peak_bytes=max(observer.peak_bytes, reading.peak_bytes if reading else 0),
        early_bytes=observer.early_bytes,
        late_bytes=observer.late_bytes,
        verdict=check(plan.outputs, titles),
        problem=_problem(reading, plan.directory),
    )


def _run(commands: object, directory: Path, observer: "_Observer", cores: Cores) -> Reading | None:
    file, report = directory / "commands.json", directory / "report.json"
    file.write_text(json.dumps(commands, default=str))
    # -P: do not import modules from the working directory.
    command = [sys.executable, "-P", meter.__file__, str(report), str(file)]
    with kept_to(cores):
        process = start_child(command, directory / "meter.log")
    try:
        observer.follow(process)
    finally:
        _end(process)
    return read(report)


def _end(process: Popen[bytes]) -> None:
    """Stop the meter, which stops its processes."""
    process.terminate()
    try:
        process.wait(END_S)
    finally:
        process.kill()


def _problem(reading: Reading | None, directory: Path) -> str:
    if reading is None:
        told = log_end(directory / "meter.log")
        return told or f"stopped, for it asked for no page for {STALL_S:.0f} s"
    for number, code in enumerate(reading.codes, start=1):
        if code:
            said = log_end(log_of(directory, number)).splitlines()
            return f"ended with {code}: {said[-1] if said else 'it said nothing'}"
    return ""


def _redis_cpu_s(server: RedisServer) -> float:
    with server.client() as client:
        used = client.info("cpu")
    return float(used["used_cpu_user"] + used["used_cpu_sys"])


class _Observer:
    """Observes the server, and the memory and the CPU time of the processes."""

    def __init__(
        self, nginx: Nginx, pages: int, watch: Watch, interludes: Sequence[Interlude]
    ) -> None:
        self._nginx = nginx
        self._pages = pages
        self._watch = watch
        step = pages / max(1, len(interludes))
        self._interludes = deque(
            ((number + 0.5) * step, each) for number, each in enumerate(interludes)
        )
        self._before = nginx.served()
        self._first_s = 0.0
        self._last_s = time.monotonic()
        self._memory_s = 0.0
        self.served = 0
        self.first_cpu_s = self.held_s = 0.0
        self.peak_bytes = self.early_bytes = self.late_bytes = 0

    @property
    def crawl_s(self) -> float:
        return self._last_s - self._first_s if self.served else 0.0

    def follow(self, process: Popen[bytes]) -> None:
        """Observe it until it ends by itself or stalls."""
        while process.poll() is None:
            now_s = time.monotonic()
            self._look(now_s, process.pid)
            if self._interludes and self.served >= self._interludes[0][0]:
                self._hold(process.pid)
                continue
            if now_s - self._last_s > STALL_S:
                return
            if now_s - self._memory_s > MEMORY_S:
                self._memory_s = now_s
                self._weigh(process.pid)
                self._watch(self.served)
            time.sleep(POLL_S)
        self._look(time.monotonic(), process.pid)

    def _look(self, now_s: float, meter: int) -> None:
        served = self._nginx.served() - self._before
        if served == self.served:
            return
        if not self.served:
            self._first_s = now_s
            self.first_cpu_s = _cpu_s_of(meter)
        self.served = served
        self._last_s = now_s

    def _hold(self, meter: int) -> None:
        began_s = time.monotonic()
        _, interlude = self._interludes.popleft()
        with _held(meter):
            interlude()
        passed_s = time.monotonic() - began_s
        self.held_s += passed_s
        # As if that time had not passed.
        self._first_s += passed_s
        self._last_s += passed_s

    def _weigh(self, meter: int) -> None:
        used = _memory_of(meter)
        self.peak_bytes = max(self.peak_bytes, used)
        if self.served <= max(1, EARLY * self._pages):
            self.early_bytes = used
        if self.late_bytes == 0 or self.served < self._pages:
            self.late_bytes = used


def _memory_of(meter: int) -> int:
    """Of all its descendants together."""
    used = 0
    for process in _descendants(meter):
        with suppress(psutil.NoSuchProcess):
            used += process.memory_info().rss
    return used


def _cpu_s_of(meter: int) -> float:
    """Of all its descendants together, including those that have ended."""
    used = 0.0
    for process in _descendants(meter):
        with suppress(psutil.NoSuchProcess):
            used += sum(process.cpu_times()[:4])
    with suppress(psutil.NoSuchProcess):
        used += sum(psutil.Process(meter).cpu_times()[2:4])
    return used


@contextmanager
def _held(meter: int) -> Iterator[None]:
    """Suspend its descendants."""
    processes = _descendants(meter)
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.suspend()
    try:
        yield
    finally:
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.resume()


def _descendants(meter: int) -> list[psutil.Process]:
    found: list[psutil.Process] = []
    with suppress(psutil.NoSuchProcess):
        found += psutil.Process(meter).children(recursive=True)
    return found
