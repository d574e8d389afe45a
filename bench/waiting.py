"""Pages that wait until they are due: their memory, what they cost those who claim, how late they
come.

The cost of claims is compared with that of a job in which the same pages have been visited for the
last time; rounds alternate. For the lateness an hour passes in two minutes, by a clock that goes
thirty times as fast: what takes a worker or the store 10 ms makes pages 300 ms late.
"""

import asyncio
import gc
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import NamedTuple, Self

from bench.boardpages import NOW_S, BoardPages
from bench.contestant import BenchError
from bench.memory import delete, used_bytes
from bench.report import Row
from bench.workload import Web
from launchers.redis import RedisServer
from weft.clock import monotonic_s
from weft.config import FrontierConfig, HostLimits
from weft.frontier import FrontierBackend, RocksFrontier
from weft.frontier.redis import RedisFrontier
from weft.records import Ending, Outcome, PackedRequest
from weft.urls import fingerprint, host_key

HOUR_MS = 3_600_000
OWNER = "bench:1:0000"
#: Requests that are claimed and finished together, and added.
CLAIMS, ADDS = 192, 1_000
#: A worker looks at least so often whether there is something to do.
IDLE_MS = 1_000
#: How much faster than ours the clock goes.
SPEED = 30
#: What we promise.
MOST_BYTES, MOST_COST_PERCENT, MOST_LATE_S = 60, 110, 5

Tell = Callable[[str], None]


class WaitingScale(NamedTuple):
    pages: int = 100_000
    hosts: int = 1_000
    rounds: int = 25
    #: Requests that are claimed in a round.
    claims: int = 5_000
    #: All are due within this time.
    within_ms: int = HOUR_MS
    #: Bytes of a page; None: there are too few pages for that.
    most_bytes: float | None = MOST_BYTES


QUICK = WaitingScale(3_000, 100, rounds=5, claims=1_000, within_ms=HOUR_MS // 20, most_bytes=None)


class FastClock:
    """It stands still until it is started."""

    def __init__(self) -> None:
        self._started_s: float | None = None

    def start(self) -> None:
        self._started_s = monotonic_s()

    def now_ms(self) -> int:
        passed_s = 0.0 if self._started_s is None else monotonic_s() - self._started_s
        return NOW_S * 1000 + round(1000 * passed_s * SPEED)


class Cpu(NamedTuple):
    """Seconds for one request."""

    client: float
    store: float


class Job:
    """One job, used as the engine uses it."""

    def __init__(
        self, frontier: FrontierBackend, clock: FastClock, store_s: Callable[[], float]
    ) -> None:
        self._frontier = frontier
        self._clock = clock
        self._store_s = store_s
        self._runner = asyncio.Runner()
        self._due_at_ms: dict[int, int] = {}
        self.cpu: list[Cpu] = []

    def __enter__(self) -> Self:
        self._runner.run(self._frontier.__aenter__())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._runner.run(self._frontier.__aexit__(kind, error, trace))
        self._runner.close()

    @property
    def waiting(self) -> int:
        return self._runner.run(self._frontier.stats()).waiting

    def add(self, requests: Sequence[PackedRequest]) -> None:
        for first in range(0, len(requests), ADDS):
            self._runner.run(self._frontier.add(requests[first : first + ADDS]))

    def visit_all(self, within_ms: int | None) -> None:
        """Claim all, and finish them so that they are due within this time; None: for ever."""
        rng = random.Random(1)
        while outcomes := self._claim(CLAIMS, lambda: within_ms and rng.randrange(within_ms)):
            self._runner.run(self._frontier.finish(outcomes))

    def _claim(self, limit: int, due_in_ms: Callable[[], int | None]) -> list[Outcome]:
        claims = self._runner.run(self._frontier.claim(OWNER, limit)).claims
        outcomes = []
        for claim in claims:
            wait_ms = due_in_ms()
            if wait_ms is not None:
                self._due_at_ms[claim.request.fingerprint] = self._clock.now_ms() + wait_ms
            outcomes.append(
                Outcome(claim.token, Ending.DONE, status=200, sent_ago_ms=0, due_in_ms=wait_ms)
            )
        return outcomes

    def take(self, many: int) -> None:
        """Claim so many, which are queued, and measure that; then finish them."""
        outcomes: list[Outcome] = []
        with self._measured(many):
            while len(outcomes) < many:
                limit = min(CLAIMS, many - len(outcomes))
                claimed = self._claim(limit, lambda: None)
                if not claimed:
                    raise BenchError(f"only {len(outcomes)} requests of {many} came out")
                outcomes += claimed
        self._runner.run(self._frontier.finish(outcomes))

    @contextmanager
    def _measured(self, many: int) -> Iterator[None]:
        gc.collect()
        store_s, client_s = self._store_s(), time.process_time()
        yield
        client_s = time.process_time() - client_s
        self.cpu.append(Cpu(client_s / many, (self._store_s() - store_s) / many))

    def lateness_s(self) -> list[float]:
        """Let the time pass until all that waits has come; how late each page was."""
        self._clock.start()
        return self._runner.run(self._wait_for_all())

    async def _wait_for_all(self) -> list[float]:
        late_s: list[float] = []
        left = dict(self._due_at_ms)
        while left:
            answer = await self._frontier.claim(OWNER, CLAIMS)
            now_ms = self._clock.now_ms()
            late_s += [(now_ms - left.pop(c.request.fingerprint)) / 1000 for c in answer.claims]
            await self._frontier.finish([Outcome(c.token, Ending.DONE) for c in answer.claims])
            if len(answer.claims) < CLAIMS:
                wait_ms = IDLE_MS if answer.next_in_ms is None else answer.next_in_ms
                await asyncio.sleep(min(wait_ms, IDLE_MS) / 1000 / SPEED)
        if min(late_s) < 0:
            raise BenchError("a page came before it was due")
        return late_s


def measure_waiting(server: RedisServer, scale: WaitingScale, tell: Tell) -> list[Row]:
    """Frees what it has put into the server."""
    config = FrontierConfig(limits=HostLimits(concurrency=1_000_000))

    def in_redis(name: str, clock: FastClock) -> Job:
        frontier = RedisFrontier(server.url, name, config, clock)
        return Job(frontier, clock, lambda: _redis_s(server))

    rows = _measure(
        "Redis", in_redis, scale, tell, lambda pages: _bytes_rows(server, pages, scale.most_bytes)
    )
    server.ask("FLUSHALL")
    with TemporaryDirectory(prefix="weft-bench-") as directory:

        def on_rocks(name: str, clock: FastClock) -> Job:
            # Its threads are ours.
            return Job(RocksFrontier(Path(directory, name), config, clock), clock, lambda: 0.0)

        rows += _measure("RocksDB", on_rocks, scale, tell, lambda pages: [])
    return rows


def _measure(
    store: str,
    make: Callable[[str, FastClock], Job],
    scale: WaitingScale,
    tell: Tell,
    look: Callable[[int], list[Row]],
) -> list[Row]:
    with ExitStack() as stack:
        clock = FastClock()
        waiting = stack.enter_context(make("waiting", clock))
        plain = stack.enter_context(make("plain", FastClock()))
        tell(f"{store}: visiting {scale.pages:,} pages")
        pages = [*BoardPages(scale.hosts, scale.pages)]
        for job, within_ms in ((waiting, scale.within_ms), (plain, None)):
            job.add(pages)
            job.visit_all(within_ms)
        if waiting.waiting != len(pages):
            raise BenchError(f"{waiting.waiting} pages wait, and not {len(pages)}")
        rows = look(len(pages))
        tell(f"{store}: claiming, with and without pages that wait")
        rows += _cost_rows(store, waiting, plain, scale)
        tell(f"{store}: an hour passes")
        rows += _late_rows(store, waiting.lateness_s())
    return rows


def _bytes_rows(server: RedisServer, pages: int, most_bytes: float | None) -> list[Row]:
    """Measured by what a copy of the keys takes."""
    told = []
    for what, patterns, most in (
        ("page that waits, in Redis: bytes", ("waiting", "later"), most_bytes),
        ("its visits, remembered for `weft explain`: bytes", ("visits:*", "visited:*"), None),
    ):
        before = used_bytes(server)
        copied = _copy(server, [f"weft:*waiting*:{pattern}" for pattern in patterns])
        told.append(Row(what, (used_bytes(server) - before) / pages, None, most=most))
        delete(server, ["copy:*"])
        if not copied:
            raise BenchError(f"there are no keys of {patterns}")
    return told


def _copy(server: RedisServer, patterns: Sequence[str]) -> int:
    copied = 0
    with server.client() as client:
        for pattern in patterns:
            for key in list(client.scan_iter(pattern, count=10_000)):
                copied += bool(client.copy(key, f"copy:{key}"))
    return copied


def _cost_rows(store: str, waiting: Job, plain: Job, scale: WaitingScale) -> list[Row]:
    pages = Web(300).pages()
    jobs = [plain, waiting]
    for _ in range(scale.rounds):
        links: list[str] = []
        while len(links) < scale.claims:
            links += next(pages).links
        requests = [PackedRequest(fingerprint(url), url, host_key(url)) for url in links]
        for job in jobs:
            job.add(requests[: scale.claims])
            job.take(scale.claims)
        jobs.reverse()
    rows = []
    for who in ("client", "store") if any(cpu.store for cpu in plain.cpu) else ("client",):
        pairs = zip(waiting.cpu, plain.cpu, strict=True)
        cost = median(getattr(one, who) / getattr(other, who) for one, other in pairs)
        what = f"claim while they wait, {store}: CPU of the {who}, % of without them"
        rows.append(Row(what, 100 * cost, None, most=MOST_COST_PERCENT))
    return rows


def _late_rows(store: str, late_s: Sequence[float]) -> list[Row]:
    parts = quantiles(late_s, n=100)
    return [
        Row(f"late when due, {store}: p50, s", parts[49], None),
        Row(f"late when due, {store}: p99, s", parts[98], None, most=MOST_LATE_S),
    ]


def _redis_s(server: RedisServer) -> float:
    with server.client() as client:
        used = client.info("cpu")
    return float(used["used_cpu_user"] + used["used_cpu_sys"])
