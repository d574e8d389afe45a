"""How many requests per second of CPU are possible, for the client and for Redis.

Each contestant has a backlog. In a round it gets pages, half of whose links are known, and then has
to return as many requests as were new. Rounds alternate, so that other load on the machine affects
all alike; medians count.
"""

import gc
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from statistics import median
from typing import NamedTuple

from bench.contestant import BenchError, Contestant, Found
from bench.workload import LINKS_PER_PAGE, Page, Web
from launchers.redis import RedisServer

#: Share of the links of a page that are already known.
KNOWN_SHARE = 0.5


class Rate(NamedTuple):
    """Requests per second of CPU time."""

    client: float
    redis: float


class Rates(NamedTuple):
    add: Rate
    take: Rate

    @property
    def page(self) -> Rate:
        """Whole pages: all links of one added, and its own request taken."""
        return Rate(
            *(
                1 / (LINKS_PER_PAGE / add + 1 / take)
                for add, take in zip(self.add, self.take, strict=True)
            )
        )


class _Work(NamedTuple):
    requests: int
    client_s: float
    redis_s: float


class _Runner:
    """One contestant with its own web, which is the same for all."""

    def __init__(self, contestant: Contestant, server: RedisServer, hosts: int) -> None:
        self._contestant = contestant
        self._server = server
        self._pages = Web(hosts).pages(KNOWN_SHARE)
        self._given: set[str] = set()
        self._taken: Counter[str] = Counter()
        self.adds: list[_Work] = []
        self.takes: list[_Work] = []

    def prepare(self, pages: int) -> None:
        self._contestant.add(self._find(pages))

    def round(self, pages: int) -> None:
        found = self._find(pages)
        links = pages * LINKS_PER_PAGE
        with self._measured(self.adds, links):
            self._contestant.add(found)
        many = round(links * (1 - KNOWN_SHARE))
        with self._measured(self.takes, many):
            requests = self._contestant.take(many)
        self._taken.update(request.url for request in requests)

    def check(self) -> None:
        """Check that everything ever given comes out once."""
        while requests := self._contestant.take(10_000):
            self._taken.update(request.url for request in requests)
        if self._taken != Counter(self._given) or self._contestant.queued():
            raise BenchError(
                f"{self._contestant.name} was given {len(self._given)} URLs and has returned "
                f"{len(self._taken)}, {self._taken.total()} times"
            )

    def rates(self) -> Rates:
        return Rates(_rate(self.adds), _rate(self.takes))

    def _find(self, pages: int) -> list[Found]:
        chosen: list[Page] = list(islice(self._pages, pages))
        self._given.update(url for page in chosen for url in page.links)
        return self._contestant.find(chosen)

    @contextmanager
    def _measured(self, works: list[_Work], requests: int) -> Iterator[None]:
        gc.collect()
        redis_s, client_s = self._redis_s(), time.process_time()
        yield
        client_s = time.process_time() - client_s
        works.append(_Work(requests, client_s, self._redis_s() - redis_s))

    def _redis_s(self) -> float:
        with self._server.client() as client:
            used = client.info("cpu")
        return float(used["used_cpu_user"] + used["used_cpu_sys"])


def _rate(works: Sequence[_Work]) -> Rate:
    return Rate(
        median(work.requests / work.client_s for work in works),
        median(work.requests / work.redis_s for work in works),
    )


def measure_rates(
    server: RedisServer,
    contestants: Sequence[Contestant],
    *,
    hosts: int,
    rounds: int,
    pages: int,
    tell: Callable[[str], None] = lambda text: None,
) -> dict[str, Rates]:
    """By name of the contestants, which are open."""
    runners = {each.name: _Runner(each, server, hosts) for each in contestants}
    for name, runner in runners.items():
        tell(f"{name}: making a backlog")
        runner.prepare(2 * pages)
    for number in range(rounds):
        tell(f"round {number + 1} of {rounds}")
        for runner in runners.values():
            runner.round(pages)
    for name, runner in runners.items():
        tell(f"{name}: emptying")
        runner.check()
    server.ask("FLUSHALL")
    return {name: runner.rates() for name, runner in runners.items()}
