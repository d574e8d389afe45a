"""Boards crawled by several workers on one Redis: whatever is killed, no article is lost or stored
twice, and no list is forgotten."""

import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from effort import times
from invariants import check_progress
from launchers.redis import RedisServer
from newsrooms import check_articles, read_lines, urls_of, write_board
from running import Process, Weft
from weft.testing import wait_until
from weft.testing.newsroom import NewsroomServer

WORKERS = 3
TROUBLES = times(4, 10)
LATENCY_S = 0.03
LEASE_S = 3
STILL_S = 10.0
#: Shorter, and some list is due at any moment: then a crawl hardly ever ends.
REFRESH_S = 3
REFRESH = dict.fromkeys(("every", "at_least", "at_most"), f"{REFRESH_S}s")


class Crew:
    """Workers of one crawl, each started again when it was killed."""

    def __init__(self, weft: Weft, server: RedisServer) -> None:
        self._weft = weft
        self._command = (
            *("crawl", "news.yaml", "-o", "items.jsonl", "--store", server.url),
            *("-s", f"WEFT_LEASE_TIMEOUT={LEASE_S}"),
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

    def wait(self) -> None:
        for worker in self.workers:
            _, log = worker.communicate(timeout=90)
            assert worker.returncode == 0, log
            assert "Traceback" not in log, log


@contextmanager
def crawling(weft: Weft, server: RedisServer) -> Iterator[Crew]:
    crew = Crew(weft, server)
    try:
        yield crew
    finally:
        for worker in crew.workers:
            worker.kill()
            worker.communicate()


def restart(server: RedisServer, away_s: float) -> tuple[float, float]:
    from_s = time.monotonic()
    server.kill()
    time.sleep(away_s)
    server.start()
    return from_s, time.monotonic()


@pytest.mark.timeout(200)
@pytest.mark.parametrize(
    "number", [0, *(pytest.param(number, marks=pytest.mark.long) for number in range(1, 5))]
)
def test_boards_survive_whatever_dies(
    number: int, weft: Weft, tmp_path: Path, rng: random.Random
) -> None:
    rng.seed(rng.random() + number)
    with RedisServer() as server, NewsroomServer(latency_s=LATENCY_S) as site:
        write_board(tmp_path / "news.yaml", site.entries, refresh=REFRESH)
        for edition in range(3):
            time.sleep(REFRESH_S if edition else 0)  # all lists are due
            site.publish(edition)
            site.forget()
            from_s = time.monotonic()
            away_s: list[tuple[float, float]] = []
            with crawling(weft, server) as crew:
                troubles = 0
                while not crew.is_over and troubles < TROUBLES:
                    time.sleep(rng.uniform(0.3, 1.2))
                    troubles += 1
                    if rng.random() < 0.25:
                        away_s.append(restart(server, rng.uniform(0.0, 1.0)))
                    else:
                        crew.kill(rng.randrange(WORKERS))
                crew.wait()
            over_at_s = time.monotonic()
            check_articles(read_lines(tmp_path / "items.jsonl"), site.newsroom)
            check_progress(
                site.hits(), from_s=from_s, over_at_s=over_at_s, away_s=away_s, limit_s=STILL_S
            )
        # What the last run visited waits to be visited again, all of it.
        visited = {url for url, many in Counter(urls_of(site.hits())).items() if many}
        time.sleep(REFRESH_S)
        site.forget()
        done = weft("crawl", "news.yaml", "-o", "items.jsonl", "--store", server.url)
        assert done.returncode == 0, done.stderr
        lists = {
            listing.path for listing in site.newsroom.listings() if not listing.path.startswith("?")
        }
        assert {url for url in visited if is_list(url, lists)} <= set(urls_of(site.hits()))


def is_list(url: str, paths: set[str]) -> bool:
    return "/" + url.partition("/")[2] in paths


def test_what_is_due_in_the_bucket_of_a_dead_worker_is_visited_by_the_next_run(
    weft: Weft, tmp_path: Path
) -> None:
    with RedisServer() as server, NewsroomServer(papers=["digest"]) as site:
        # A single list, so that there is nothing to do between two visits.
        only_entry = {"depth": 0, "follow": ["^$"], "feeds": False, "sitemaps": False}
        write_board(tmp_path / "news.yaml", site.entries, refresh=REFRESH, **only_entry)
        command = (
            *("crawl", "news.yaml", "-o", "items.jsonl", "--store", server.url),
            *("-s", "WEFT_LEASE_TIMEOUT=10"),
        )
        worker = weft.start(*command, "--watch")
        try:
            wait_until(lambda: visits(site) > 1, timeout_s=60, description="it was visited again")
            time.sleep(REFRESH_S / 3)
        finally:
            worker.kill()
            worker.communicate()
        site.forget()
        time.sleep(REFRESH_S)  # it is due, and the dead worker still has the lease of its bucket
        done = weft(*command)
        assert done.returncode == 0, done.stderr
        assert visits(site) >= 1


def visits(site: NewsroomServer) -> int:
    """How often the home page was asked for."""
    return sum(hit.path == "/" for hit in site.hits())
