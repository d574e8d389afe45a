"""Four workers on one Redis; whatever is killed or stopped, every page is stored once."""

import json
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from effort import times
from invariants import check_concurrency, check_delays, check_progress
from launchers.redis import RedisServer
from running import Process, Weft
from weft.testing import Site, SiteServer

HOSTS = tuple(f"127.0.0.{number}" for number in range(1, 13))
#: Half of the hosts want a pause between requests, the others no more than some at a time.
DELAY_S = 0.2
SLOW_HOSTS = HOSTS[::2]
CONCURRENCY = 3
LATENCY_S = 0.06
PAGES = times(25, 50)
TROUBLES = times(5, 12)
#: Between sending and the note in the log, requests can be held up by this much, each for itself.
TOLERANCE_S = 0.08
LEASE_S = 3
#: Nothing may stand still for so long while there is work and the store is up.
STILL_S = 10.0
WORKERS = 4


class Crawl:
    """The workers of a crawl, each started again when it was killed."""

    def __init__(self, weft: Weft, site: SiteServer, server: RedisServer) -> None:
        self._weft = weft
        slots = {host: {"delay": DELAY_S} for host in SLOW_HOSTS}
        self._command = (
            "crawl",
            *(site.url_of(host) for host in HOSTS),
            *("--store", server.url, "-o", "out.jsonl", "--concurrency", str(CONCURRENCY)),
            *("-s", f"WEFT_LEASE_TIMEOUT={LEASE_S}", "-s", f"DOWNLOAD_SLOTS={json.dumps(slots)}"),
        )
        self.workers = [self._start() for _ in range(WORKERS)]

    def _start(self) -> Process:
        return self._weft.start(*self._command)

    @property
    def is_over(self) -> bool:
        return any(worker.poll() == 0 for worker in self.workers)

    def kill(self, number: int) -> None:
        worker = self.workers[number]
        worker.kill()
        worker.communicate()
        self.workers[number] = self._start()

    def stop(self, number: int, seconds: float) -> None:
        """Long enough for its buckets to be given to others."""
        self.workers[number].send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.workers[number].send_signal(signal.SIGCONT)

    def wait(self) -> None:
        for worker in self.workers:
            _, log = worker.communicate(timeout=90)
            assert worker.returncode == 0, log
            assert "Traceback" not in log, log


@contextmanager
def crawling(weft: Weft, site: SiteServer, server: RedisServer) -> Iterator[Crawl]:
    crawl = Crawl(weft, site, server)
    try:
        yield crawl
    finally:
        for worker in crawl.workers:
            worker.kill()
            worker.communicate()


class Store:
    """The server of the crawl, and when it was away."""

    def __init__(self, server: RedisServer) -> None:
        self._server = server
        self.away_s: list[tuple[float, float]] = []

    def restart(self, after_s: float) -> None:
        from_s = time.monotonic()
        self._server.kill()
        time.sleep(after_s)
        self._server.start()
        self.away_s.append((from_s, time.monotonic()))


def make_trouble(crawl: Crawl, store: Store, rng: random.Random) -> str:
    number = rng.randrange(WORKERS)
    kind = rng.choice(["kill a worker", "kill a worker", "stop a worker", "kill Redis"])
    if kind == "kill a worker":
        crawl.kill(number)
    elif kind == "stop a worker":
        crawl.stop(number, LEASE_S + rng.uniform(0.2, 1.5))
    else:
        store.restart(after_s=rng.uniform(0.0, 1.0))
    return kind


@pytest.mark.timeout(200)
@pytest.mark.parametrize(
    "number", [0, *(pytest.param(number, marks=pytest.mark.long) for number in range(1, 5))]
)
def test_a_shared_crawl_survives_whatever_dies(
    number: int, weft: Weft, tmp_path: Path, rng: random.Random
) -> None:
    rng.seed(rng.random() + number)
    site = Site(hosts=HOSTS, pages=PAGES, links=5, latency_s=LATENCY_S)
    with RedisServer() as server, SiteServer(site) as serving:
        store = Store(server)
        with crawling(weft, serving, server) as crawl:
            troubles: list[str] = []
            while not crawl.is_over and len(troubles) < TROUBLES:
                time.sleep(rng.uniform(0.3, 1.2))
                troubles.append(make_trouble(crawl, store, rng))
            crawl.wait()
        over_at_s = time.monotonic()
        hits = serving.hits()
        wanted = set().union(*(serving.page_urls(host) for host in HOSTS))
    print(troubles, f"{len(hits)} hits for {len(wanted)} pages")
    urls = [json.loads(line)["url"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert len(urls) == len(set(urls))
    assert set(urls) == wanted
    check_progress(hits, over_at_s=over_at_s, away_s=store.away_s, limit_s=STILL_S)
    check_delays(hits, dict.fromkeys(SLOW_HOSTS, DELAY_S), TOLERANCE_S)
    check_concurrency(hits, HOSTS[1::2], CONCURRENCY, LATENCY_S)
