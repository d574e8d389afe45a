"""A shared store that goes away delays the crawl, but not its end; and nothing is lost."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from crawling import crawl, start_crawl, urls, wait_while_running
from walking import Fetcher, Walker

from launchers.redis import RedisServer
from weft.engine import crawl as module
from weft.testing import Site, SiteServer

PAGES = ["/", *(f"/p/{n}.html" for n in range(1, 20))]


class Impatient(Walker):
    """Does not wait long for its store when it is stopped."""

    name = "impatient"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        module.CLOSE_S = 1.0


def fetched(site: SiteServer) -> int:
    return len(site.hits())


@contextmanager
def standing_still(server: RedisServer) -> Iterator[None]:
    os.kill(server.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)


def test_a_crawl_can_be_stopped_while_its_store_is_gone(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    settings = {
        "WEFT_STORE": redis_server.url,
        "WEFT_LEASE_TIMEOUT": 2,
        "DOWNLOAD_DELAY": 0.1,
    }
    with SiteServer(Site(pages=20, links=3)) as site:
        with start_crawl(tmp_path, Impatient, settings=settings, start_urls=[site.url]) as first:
            wait_while_running(first, until=lambda: fetched(site) >= 5)
            with standing_still(redis_server):
                first.send_signal(signal.SIGINT)
                _, log = first.communicate(timeout=20)
        assert "did not answer for 1 s while the crawl was being closed; nothing is lost" in log
        assert "Traceback" not in log
        done = crawl(tmp_path, Impatient, settings, start_urls=[site.url])
    assert done.reason == "finished"
    assert set(urls(done.stored())) == set(PAGES)


def test_nothing_is_sent_while_claims_may_be_another_s(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    settings = {
        "WEFT_STORE": redis_server.url,
        "WEFT_LEASE_TIMEOUT": 1,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    }
    with SiteServer(Site(pages=20, links=3, latency_s=0.3)) as site:
        with start_crawl(tmp_path, Impatient, settings=settings, start_urls=[site.url]) as process:
            wait_while_running(process, until=lambda: fetched(site) >= 3)
            with standing_still(redis_server):
                wait_while_running(process, 1.5)  # longer than the claims last
                before = fetched(site)
                wait_while_running(process, 1.5)
                assert fetched(site) == before
            _, log = process.communicate(timeout=60)
        assert "'finish_reason': 'finished'" in log
        assert sorted({hit.path for hit in site.hits()}) == sorted(PAGES)


def test_what_autothrottle_delays_is_not_sent_when_the_lease_has_lapsed(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    settings = {
        "WEFT_STORE": redis_server.url,
        "WEFT_LEASE_TIMEOUT": 1,
        "AUTOTHROTTLE_ENABLED": True,
        # The delay stays what it is.
        "AUTOTHROTTLE_START_DELAY": 1.5,
        "AUTOTHROTTLE_MAX_DELAY": 1.5,
        "AUTOTHROTTLE_TARGET_CONCURRENCY": 1e-6,
        "DOWNLOAD_DELAY_JITTER": 0,
    }
    with SiteServer(Site(pages=20)) as site:
        wanted = [f"{site.url}p/{number}.html" for number in (1, 2)]
        with start_crawl(tmp_path, Fetcher, settings=settings, urls=wanted) as process:
            wait_while_running(process, until=lambda: fetched(site) >= 1)
            with standing_still(redis_server):
                wait_while_running(process, 2.5)  # longer than the lease and the delay
                assert fetched(site) == 1
            _, log = process.communicate(timeout=60)
        assert "'finish_reason': 'finished'" in log
        assert fetched(site) == 2
