"""Redis is restarted once at some moment of a crawl: every page is stored once, and the crawl goes
on within seconds."""

import json
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from invariants import check_concurrency, check_delays, check_progress, check_sink
from launchers.redis import RedisServer
from running import Process, Weft
from weft.testing import Site, SiteServer
from weft.testing.waiting import wait_until

HOSTS = tuple(f"127.0.0.{number}" for number in range(1, 9))
PAGES = 60
LATENCY_S = 0.03
#: Between sending and the note in the log, requests can be held up by this much, each for itself.
TOLERANCE_S = 0.08
#: A host with concurrency 1 stands still if one of its claims does.
CONCURRENCY = 1
GOES_ON_S = 5.0

#: Those that `make test` runs, and how often `make faults` runs each.
QUICK = {(1, 0.0), (3, 0.05)}
ROUNDS = 30


def cases() -> Iterator[object]:
    for workers in (1, 3):
        for delay_s in (0.0, 0.05):
            for number in range(ROUNDS):
                is_quick = number == 0 and (workers, delay_s) in QUICK
                marks = [] if is_quick else [pytest.mark.long]
                yield pytest.param(workers, delay_s, number, marks=marks)


@contextmanager
def crawling(
    weft: Weft, site: SiteServer, store: RedisServer, workers: int, delay_s: float
) -> Iterator[list[Process]]:
    command = (
        "crawl",
        *(site.url_of(host) for host in HOSTS),
        *("--store", store.url, "-o", "out.jsonl"),
        *("--concurrency", str(CONCURRENCY), "--delay", str(delay_s)),
    )
    started = [weft.start(*command) for _ in range(workers)]
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.communicate()


@pytest.mark.parametrize(("workers", "delay_s", "number"), list(cases()))
def test_a_crawl_goes_on_when_its_store_was_restarted(
    workers: int, delay_s: float, number: int, weft: Weft, tmp_path: Path, rng: random.Random
) -> None:
    rng.seed(rng.random() + number)
    site = Site(hosts=HOSTS, pages=PAGES, links=5, latency_s=LATENCY_S)
    with RedisServer() as store, SiteServer(site) as serving:
        with crawling(weft, serving, store, workers, delay_s) as processes:
            wait_until(lambda: len(serving.hits()) > 5, description="pages are fetched")
            time.sleep(rng.uniform(0.0, 2.0))
            away_from_s = time.monotonic()
            store.kill()
            time.sleep(rng.choice([0.0, 0.5]))
            store.start()
            away_s = (away_from_s, time.monotonic())
            for process in processes:
                _, log = process.communicate(timeout=60)
                assert process.returncode == 0, log
                assert "Traceback" not in log
                assert "came too late" not in log
        over_at_s = time.monotonic()
        hits = serving.hits()
        wanted = serving.page_urls()
    check_sink(tmp_path / "out.jsonl", wanted)
    check_progress(hits, over_at_s=over_at_s, away_s=[away_s], limit_s=GOES_ON_S)
    check_delays(hits, dict.fromkeys(HOSTS, delay_s), TOLERANCE_S)
    check_concurrency(hits, HOSTS, CONCURRENCY, LATENCY_S)
    print(json.dumps({"hits": len(hits), "seconds": round(over_at_s - hits[0].at_s, 1)}))
