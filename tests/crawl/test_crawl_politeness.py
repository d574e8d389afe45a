"""Hosts are fetched as slowly as the project, robots.txt or the hosts themselves say."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, Self

import pytest
from crawling import crawl, paths
from delays import gaps_s
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from walking import Fetcher, Walker

from weft.engine.http.connection import Connection
from weft.engine.http.connector import Connector
from weft.engine.http.dispatch import Route
from weft.records import Ending
from weft.testing import Hit, Site, SiteServer

#: Each request can be delayed by this much between being sent and being logged.
TOLERANCE_S = 0.05


def page_urls(site: SiteServer, count: int, host: str = "127.0.0.1") -> list[str]:
    return [site.url_of(host, f"/p/{number}.html") for number in range(1, count + 1)]


def most_within(hits: Sequence[Hit], window_s: float) -> int:
    """The most hits that arrived within any window of this length."""
    return max(
        sum(first.at_s <= hit.at_s < first.at_s + window_s for hit in hits) for first in hits
    )


def test_the_delay_is_kept_and_not_doubled(tmp_path: Path) -> None:
    with SiteServer(Site(robots="User-agent: *\nAllow: /\n")) as site:
        settings = {"DOWNLOAD_DELAY": 0.2, "ROBOTSTXT_OBEY": True}
        crawl(tmp_path, Fetcher, settings, urls=page_urls(site, 7))
        hits = site.hits()
    assert hits[0].path == "/robots.txt"
    assert len(hits) == 8
    assert min(gaps_s(hits)) >= 0.2 - TOLERANCE_S
    assert hits[-1].at_s - hits[0].at_s < 7 * 0.2 * 1.5


def test_the_delay_is_kept_by_redirects_and_retries(tmp_path: Path) -> None:
    with SiteServer(Site(flaky_every=2)) as site:
        wanted = [site.url_of("127.0.0.1", "/r/1"), site.url_of("127.0.0.1", "/p/2.html")]
        crawl(tmp_path, Fetcher, {"DOWNLOAD_DELAY": 0.2}, urls=wanted)
        hits = site.hits()
    assert len(hits) == 4
    assert min(gaps_s(hits)) >= 0.2 - TOLERANCE_S


class SlowToConnect(Fetcher):
    """Its first connection takes longer than the delay; the later ones overtake it."""

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        connect = Connector.connect
        made = count()

        async def connect_slowly(self: Connector, route: Route, until_s: float) -> Connection:
            if next(made) == 0:
                await asyncio.sleep(0.3)
            return await connect(self, route, until_s)

        Connector.connect = connect_slowly  # type: ignore[method-assign]
        return super().from_crawler(crawler, *args, **kwargs)


def test_the_delay_is_kept_when_a_connection_takes_long(tmp_path: Path) -> None:
    with SiteServer(Site()) as site:
        crawl(tmp_path, SlowToConnect, {"DOWNLOAD_DELAY": 0.2}, urls=page_urls(site, 4))
        hits = site.hits()
    assert len(hits) == 4
    assert min(gaps_s(hits)) >= 0.2 - TOLERANCE_S
    assert hits[0].path != "/p/1.html"


def test_slow_hosts_do_not_wait_for_each_other(tmp_path: Path) -> None:
    hosts = ("127.0.0.1", "127.0.0.2", "127.0.0.3")
    with SiteServer(Site(hosts=hosts)) as site:
        wanted = [url for host in hosts for url in page_urls(site, 4, host)]
        crawl(tmp_path, Fetcher, {"DOWNLOAD_DELAY": 0.2}, urls=wanted)
        hits = site.hits()
    for host in hosts:
        assert min(gaps_s([hit for hit in hits if hit.host == host])) >= 0.2 - TOLERANCE_S
    assert hits[-1].at_s - hits[0].at_s < 3 * 0.2 * 2


def test_download_slots_set_the_limits_of_single_hosts(tmp_path: Path) -> None:
    hosts = ("127.0.0.1", "127.0.0.2")
    with SiteServer(Site(hosts=hosts, latency_s=0.1)) as site:
        wanted = [url for host in hosts for url in page_urls(site, 4, host)]
        slots = {"127.0.0.1": {"delay": 0.3}, "127.0.0.2": {"concurrency": 2}}
        crawl(tmp_path, Fetcher, {"DOWNLOAD_SLOTS": slots}, urls=wanted)
        hits = site.hits()
    assert min(gaps_s([hit for hit in hits if hit.host == "127.0.0.1"])) >= 0.3 - TOLERANCE_S
    assert most_within([hit for hit in hits if hit.host == "127.0.0.2"], 0.1) == 2


def test_no_more_requests_than_allowed_are_under_way_at_a_host(tmp_path: Path) -> None:
    with SiteServer(Site(latency_s=0.1)) as site:
        settings = {"CONCURRENT_REQUESTS_PER_DOMAIN": 3}
        crawl(tmp_path, Fetcher, settings, urls=page_urls(site, 15))
        hits = site.hits()
    assert most_within(hits, 0.1) == 3
    assert hits[-1].at_s - hits[0].at_s < 4 * 0.1 * 2


def test_no_more_requests_than_allowed_are_under_way_at_all(tmp_path: Path) -> None:
    hosts = tuple(f"127.0.0.{n}" for n in range(1, 6))
    with SiteServer(Site(hosts=hosts, latency_s=0.1)) as site:
        wanted = [url for host in hosts for url in page_urls(site, 2, host)]
        crawl(tmp_path, Fetcher, {"CONCURRENT_REQUESTS": 2}, urls=wanted)
        hits = site.hits()
    assert len(hits) == 10
    assert most_within(hits, 0.1) == 2


def test_what_robots_txt_forbids_is_not_fetched(tmp_path: Path) -> None:
    with SiteServer(Site(pages=4, robots="User-agent: *\nDisallow: /p/2.html\n")) as site:
        done = crawl(tmp_path, Walker, {"ROBOTSTXT_OBEY": True}, start_urls=[site.url])
        assert set(paths(site.hits())) == {"/robots.txt", "/", "/p/1.html", "/p/3.html"}
        [fetch] = done.explain(f"{site.url}p/2.html").fetches
    assert (fetch.ending, fetch.note) == (Ending.DROPPED, "Forbidden by robots.txt")
    assert done.stats["robotstxt/forbidden"] == 1


def test_the_crawl_delay_of_robots_txt_is_kept(tmp_path: Path) -> None:
    with SiteServer(Site(robots="User-agent: *\nCrawl-delay: 0.3\n")) as site:
        crawl(tmp_path, Fetcher, {"ROBOTSTXT_OBEY": True}, urls=page_urls(site, 4))
        hits = site.hits()
    assert paths(hits)[0] == "/robots.txt"
    assert min(gaps_s(hits)) >= 0.3 - TOLERANCE_S
    assert hits[-1].at_s - hits[0].at_s < 4 * 0.3 * 1.5


def test_retry_after_is_waited_for(tmp_path: Path) -> None:
    with SiteServer(Site(busy_every=1)) as site:
        done = crawl(tmp_path, Fetcher, urls=page_urls(site, 1))
        hits = site.hits()
    assert [hit.status for hit in hits] == [429, 200]
    assert gaps_s(hits)[0] >= 1.0 - TOLERANCE_S
    assert len(done.stored()) == 1


@pytest.mark.parametrize("concurrency", [1, 3])
def test_what_waits_in_the_worker_is_not_sent_within_a_pause(
    tmp_path: Path, concurrency: int
) -> None:
    """A worker has more claims of a host without delay than it sends at a time."""
    with SiteServer(Site(busy_every=10, latency_s=0.05)) as site:
        settings = {"CONCURRENT_REQUESTS_PER_DOMAIN": concurrency}
        done = crawl(tmp_path, Fetcher, settings, urls=page_urls(site, 30))
        hits = site.hits()
    assert len(done.stored()) == 30
    assert [hit.status for hit in hits].count(429) == 3
    for refused in (hit for hit in hits if hit.status == 429):
        later = [hit for hit in hits if refused.at_s < hit.at_s < refused.at_s + 1 - TOLERANCE_S]
        # Some were under way at the same time.
        assert all(hit.at_s < refused.at_s + 0.05 + TOLERANCE_S for hit in later)
        assert len(later) < concurrency


class Impatient(Fetcher):
    """Gives up on side requests that take long, and goes on."""

    name = "impatient"

    async def parse(self, response: Response, **kwargs: Any) -> AsyncIterator[Any]:
        for _ in range(3):
            slow = Request(response.urljoin("/slow/30"), dont_filter=True)
            with suppress(TimeoutError):
                await asyncio.wait_for(self.crawler.engine.download_async(slow), 0.2)
        echo = await self.crawler.engine.download_async(Request(response.urljoin("/echo")))
        yield {"url": response.url, "status": echo.status}


def test_a_side_request_that_is_cancelled_gives_its_place_back(
    tmp_path: Path, site: SiteServer
) -> None:
    settings = {"CONCURRENT_REQUESTS_PER_DOMAIN": 1}
    done = crawl(tmp_path, Impatient, settings, urls=[site.url])
    assert [item["status"] for item in done.items] == [200]
    assert paths(site.hits()) == ["/", "/slow/30", "/slow/30", "/slow/30", "/echo"]
