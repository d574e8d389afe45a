"""The delay of a host is for what is sent: pages that come without a request cost no time."""

from pathlib import Path
from typing import Any

import pytest
from crawling import Crawl, crawl, paths
from delays import gaps_s
from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Response
from walking import Fetcher

from weft.testing import Site, SiteServer

DELAY_S = 1.0
PAGES = 20
#: They would take 19 s, one after another; without a delay they take a fraction of a second.
MOST_S = 5.0


@pytest.fixture(params=["embedded", "shared"])
def store(request: pytest.FixtureRequest) -> dict[str, Any]:
    if request.param == "embedded":
        return {}
    return {"WEFT_STORE": request.getfixturevalue("redis_server").url}


class Answers:
    """Has some pages at hand, and refuses some others."""

    def process_request(self, request: Request) -> Response | None:
        if "answered" in request.url:
            return HtmlResponse(request.url, body=b"<p>at hand", request=request)
        if "ignored" in request.url:
            raise IgnoreRequest("nobody wants this")
        return None


def urls_of(site: SiteServer, *, start: str = "/echo") -> list[str]:
    return [site.url_of("127.0.0.1", f"{start}?{number}") for number in range(PAGES)]


def seconds(done: Crawl) -> float:
    return float(done.stats["elapsed_time_seconds"])


def test_pages_from_the_cache_cost_no_delay(
    site: SiteServer, tmp_path: Path, store: dict[str, Any]
) -> None:
    wanted = urls_of(site)
    cached = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": "cache"} | store
    crawl(tmp_path, Fetcher, cached, urls=wanted)
    sent = len(site.hits())
    done = crawl(tmp_path, Fetcher, cached | {"DOWNLOAD_DELAY": DELAY_S}, urls=wanted)
    assert len(done.items) == done.stats["httpcache/hit"] == PAGES
    assert len(site.hits()) == sent == PAGES
    assert seconds(done) < MOST_S


@pytest.mark.parametrize("kind", ["answered", "ignored"])
def test_what_a_middleware_answers_or_ignores_costs_no_delay(
    site: SiteServer, tmp_path: Path, store: dict[str, Any], kind: str
) -> None:
    settings = {
        "DOWNLOAD_DELAY": DELAY_S,
        "DOWNLOADER_MIDDLEWARES": {"test_unsent.Answers": 50},
    } | store
    done = crawl(tmp_path, Fetcher, settings, urls=urls_of(site, start=f"/{kind}"))
    assert done.reason == "finished"
    assert len(done.items) == (PAGES if kind == "answered" else 0)
    assert site.hits() == []
    assert seconds(done) < MOST_S


def test_what_is_sent_in_between_keeps_its_delay(tmp_path: Path, store: dict[str, Any]) -> None:
    """A page that comes without a request says nothing about those that were sent."""
    delay_s = 0.3
    settings = {
        "DOWNLOAD_DELAY": delay_s,
        "WEFT_ORDER": "bfs",
        "DOWNLOADER_MIDDLEWARES": {"test_unsent.Answers": 50},
    } | store
    with SiteServer(Site(robots="User-agent: *\nAllow: /\n", latency_s=0.1)) as site:
        starts = ("/answered", "/answered", "/echo", "/ignored")
        wanted = [
            site.url_of("127.0.0.1", f"{starts[number % 4]}?{number}") for number in range(PAGES)
        ]
        done = crawl(tmp_path, Fetcher, settings | {"ROBOTSTXT_OBEY": True}, urls=wanted)
        hits = site.hits()
    assert len(done.items) == 15
    assert len(paths(hits)) == 6
    assert min(gaps_s(hits)) >= delay_s - 0.05
