"""A callback that blocks the event loop for longer than a lease lasts: its worker is alive, and
keeps what it has."""

import time
from collections import Counter
from pathlib import Path
from typing import Any

from crawling import start_crawl, wait_while_running
from scrapy.http import Response
from walking import Walker

from launchers.redis import RedisServer
from weft.testing import Site, SiteServer

LEASE_S = 1.0
PATHS = [f"/p/{number}.html" for number in range(1, 12)]
HOSTS = tuple(f"127.0.0.{number}" for number in range(1, 5))


class Blocker(Walker):
    """Takes its time for some pages, and nothing else happens in its process meanwhile."""

    name = "blocker"

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if "127.0.0.1:" in response.url and response.url.endswith("/p/3.html"):
            time.sleep(3 * LEASE_S)
        yield from super().parse(response, **kwargs)


def test_pages_are_not_fetched_again_and_again_while_a_callback_blocks(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    settings = {
        "WEFT_STORE": redis_server.url,
        "WEFT_LEASE_TIMEOUT": LEASE_S,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 2,
    }
    with SiteServer(Site(hosts=HOSTS, pages=12, links=3, latency_s=0.05)) as site:
        starts = [site.url_of(host) for host in HOSTS]
        with (
            start_crawl(tmp_path, Blocker, settings=settings, start_urls=starts) as one,
            start_crawl(tmp_path, Blocker, settings=settings, start_urls=starts) as two,
        ):
            wait_while_running(one, until=lambda: len(site.hits()) > 4)
            logs = [process.communicate(timeout=60)[1] for process in (one, two)]
        fetched = Counter((hit.host, hit.path) for hit in site.hits())
        wanted = {(host, path) for host in HOSTS for path in PATHS}
    for log in logs:
        assert "'finish_reason': 'finished'" in log
        assert "were not kept in time" not in log
    # Each process asks for its start URLs itself.
    pages = {page: times for page, times in fetched.items() if page in wanted}
    assert pages == dict.fromkeys(wanted, 1)
