"""A project's DUPEFILTER_CLASS is used as in Scrapy, or refused."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from crawling import crawl, start_crawl, times
from scrapy import Request
from scrapy.dupefilters import RFPDupeFilter
from scrapy.http import Response
from walking import Fetcher

from launchers.redis import RedisServer
from weft import FollowAll
from weft.testing import SiteServer, until

NO_FILTER = {"DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter"}
SLOW = {"CONCURRENT_REQUESTS": 1}
HOME, LINKED = "/p/1.html", "/p/2.html"


class Repeating(Fetcher):
    """Yields the same request again and again: two to start with, and two more on each page, two
    deep. `crew`: how many workers to wait for. `killed_at`: the depth at which it dies."""

    name = "repeating"
    crew = 1
    killed_at = -1

    async def start(self) -> Any:
        Path(f"{os.getpid()}.started").touch()
        await until(lambda: len([*Path().glob("*.started")]) >= self.crew, "all have started")
        for url in self.urls:
            yield Request(url)
            yield Request(url)

    def parse(self, response: Response, **kwargs: Any) -> Any:
        depth = response.meta["depth"]
        if depth == self.killed_at:
            os.kill(os.getpid(), signal.SIGKILL)
        yield {"depth": depth}
        if depth < 2:
            yield response.follow(LINKED)
            yield response.follow(LINKED)


#: Pages by depth, as plain Scrapy fetches them.
WANTED = [0] * 2 + [1] * 4 + [2] * 8


def depths(items: list[dict[str, Any]]) -> list[int]:
    return sorted(item["depth"] for item in items)


@pytest.mark.parametrize("parts", ["", "duplicates,engine"])
def test_nothing_is_filtered(parts: str, site: SiteServer, tmp_path: Path) -> None:
    settings = NO_FILTER | {"WEFT_SCRAPY_PARTS": parts}
    done = crawl(tmp_path, Repeating, settings, urls=[site.url_of("127.0.0.1", HOME)])
    assert done.reason == "finished"
    assert depths(done.items) == depths(done.stored()) == WANTED
    assert times(site.hits()) == {HOME: 2, LINKED: 12}
    assert "dupefilter/filtered" not in done.stats


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_what_is_done_again_after_a_crash_is_queued_once(
    depth: int, site: SiteServer, tmp_path: Path
) -> None:
    urls = [site.url_of("127.0.0.1", HOME)]
    killed = crawl(tmp_path, Repeating, NO_FILTER | SLOW, urls=urls, killed_at=depth)
    assert killed.reason == ""
    done = crawl(tmp_path, Repeating, NO_FILTER | SLOW, urls=urls)
    assert done.reason == "finished"
    assert depths(done.stored()) == WANTED


def test_two_workers_queue_everything_once(
    site: SiteServer, redis_server: RedisServer, tmp_path: Path
) -> None:
    settings = NO_FILTER | {"WEFT_STORE": redis_server.url}
    urls = [site.url_of("127.0.0.1", HOME)]
    with (
        start_crawl(tmp_path, Repeating, settings=settings, urls=urls, crew=2) as one,
        start_crawl(tmp_path, Repeating, settings=settings, urls=urls, crew=2) as two,
    ):
        told = [worker.communicate(timeout=60) for worker in (one, two)]
    items = [item for output, _ in told for item in json.loads(output)[0]["items"]]
    assert depths(items) == WANTED, told
    assert times(site.hits()) == {HOME: 2, LINKED: 12}


class Retrying(Fetcher):
    """Meets a redirect and a page that fails."""

    name = "retrying"


def test_redirects_and_retries_end_without_a_filter(site: SiteServer, tmp_path: Path) -> None:
    paths = ("/r/3", "/status/500", "/redirect-loop")
    urls = [site.url_of("127.0.0.1", path) for path in paths]
    settings = NO_FILTER | {"RETRY_TIMES": 1, "REDIRECT_MAX_TIMES": 2}
    done = crawl(tmp_path, Retrying, settings, urls=urls)
    assert done.reason == "finished"
    assert times(site.hits()) == {
        "/r/3": 1,
        "/p/3.html": 1,
        "/status/500": 2,
        "/redirect-loop": 3,
    }


class InBatches(Fetcher):
    name = "in_batches"

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield FollowAll([LINKED, LINKED])


def test_links_of_follow_all_are_filtered_all_the_same(site: SiteServer, tmp_path: Path) -> None:
    done = crawl(tmp_path, InBatches, NO_FILTER, urls=[site.url_of("127.0.0.1", HOME)])
    assert done.reason == "finished"
    assert times(site.hits()) == {HOME: 1, LINKED: 1}


# Filters of the project


class ByPath(RFPDupeFilter):
    def request_fingerprint(self, request: Request) -> str:
        return request.url.partition("?")[0]


BY_PATH = {"DUPEFILTER_CLASS": "test_dupefilters.ByPath"}


def test_a_filter_says_which_requests_are_the_same(site: SiteServer, tmp_path: Path) -> None:
    urls = [site.url_of("127.0.0.1", f"{HOME}?{n}") for n in range(3)]
    limit = SLOW | {"CLOSESPIDER_PAGECOUNT": 1}
    others = [site.url_of("127.0.0.1", path) for path in (LINKED, "/p/3.html")]
    crawl(tmp_path, Fetcher, BY_PATH | limit, urls=[*urls[:2], *others])
    done = crawl(tmp_path, Fetcher, BY_PATH, urls=[*urls, *others])
    assert done.reason == "finished"
    assert times(site.hits()) == {f"{HOME}?0": 1, LINKED: 1, "/p/3.html": 1}


class Failing(RFPDupeFilter):
    def request_fingerprint(self, request: Request) -> str:
        if request.url.endswith(HOME):
            raise KeyError("one")
        return request.url


def test_a_filter_that_fails_costs_one_request(site: SiteServer, tmp_path: Path) -> None:
    settings = {"DUPEFILTER_CLASS": "test_dupefilters.Failing"}
    urls = [site.url_of("127.0.0.1", path) for path in (HOME, LINKED)]
    done = crawl(tmp_path, Fetcher, settings, urls=urls)
    assert times(site.hits()) == {LINKED: 1}, done.log
    assert "DUPEFILTER_CLASS raised KeyError" in done.log


class Remembering(RFPDupeFilter):
    def request_seen(self, request: Request) -> bool:
        return False


def test_a_filter_with_a_memory_of_its_own_is_refused(site: SiteServer, tmp_path: Path) -> None:
    settings = {"DUPEFILTER_CLASS": "test_dupefilters.Remembering"}
    done = crawl(tmp_path, Fetcher, settings, urls=[site.url])
    assert "test_dupefilters.Remembering, with its own request_seen; Weft cannot use that" in (
        done.log
    )
    assert not site.hits()
