"""A fingerprinter of the project that fails costs only one request, and the failure is reported."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from crawling import Crawl, crawl, explain, urls
from scrapy import Request
from scrapy.http import Response, TextResponse
from scrapy.utils.request import fingerprint
from walking import Fetcher, Walker

from weft import FollowAll
from weft.engine.requests.fingerprint import short_fingerprint, start_fingerprint
from weft.records import Ending
from weft.testing import Site, SiteServer

PAGES = 10
HOME = "/"
BAD = "/p/3.html"

PARTS = pytest.mark.parametrize("parts", ["", "duplicates", "engine,signals"])


class Picky:
    def fingerprint(self, request: Request) -> bytes:
        if BAD in request.url:
            raise KeyError("three")
        return fingerprint(request)


class Mute:
    def fingerprint(self, request: Request) -> Any:
        return None if BAD in request.url else fingerprint(request)


class InBatches(Walker):
    name = "in_batches"

    def parse(self, response: Response, **kwargs: Any) -> Any:
        assert isinstance(response, TextResponse)
        yield FollowAll(response.css("a::attr(href)").getall())
        yield {"url": response.url, "status": response.status}


class LaterCallback(Walker):
    """Asynchronous, as some are."""

    name = "later_callback"

    async def parse(self, response: Response, **kwargs: Any) -> Any:
        assert isinstance(response, TextResponse)
        for request in response.follow_all(css="a"):
            yield request
        yield {"url": response.url, "status": response.status}


@pytest.fixture(scope="module")
def site() -> Iterator[SiteServer]:
    """All pages are found on the first."""
    with SiteServer(Site(pages=PAGES, links=PAGES - 1)) as server:
        yield server


def run(directory: Path, spider: Any, fingerprinter: str, parts: str = "", **more: Any) -> Crawl:
    settings = {
        "REQUEST_FINGERPRINTER_CLASS": f"test_fingerprinter.{fingerprinter}",
        "WEFT_SCRAPY_PARTS": parts,
        "DEPTH_LIMIT": 1,
    }
    return crawl(directory, spider, settings, **more)


def failure_of(done: Crawl, url: str) -> str:
    """Why a start request failed."""
    number = short_fingerprint(fingerprint(Request(url)))
    told = explain(done.job_dir, number, start_fingerprint(number))
    [(ending, note)] = {(fetch.ending, fetch.note) for each in told for fetch in each.fetches}
    assert ending is Ending.FAILED
    return note


def all_but_the_bad_one(site: SiteServer) -> list[str]:
    return sorted({HOME, *(f"/p/{n}.html" for n in range(1, PAGES))} - {BAD})


@PARTS
@pytest.mark.parametrize("spider", [Walker, InBatches, LaterCallback])
@pytest.mark.parametrize(("fingerprinter", "error"), [("Picky", "KeyError"), ("Mute", "TypeError")])
def test_one_link_is_lost_and_its_page_has_failed(
    parts: str, spider: Any, fingerprinter: str, error: str, site: SiteServer, tmp_path: Path
) -> None:
    done = run(tmp_path, spider, fingerprinter, parts, start_urls=[site.url])
    assert done.reason == "finished"
    assert urls(done.stored()) == all_but_the_bad_one(site)
    assert done.stats[f"spider_exceptions/{error}"] == 1
    assert done.log.count(f"\n{error}: ") == 1, done.log
    assert "Scraper bug" not in done.log
    assert f"REQUEST_FINGERPRINTER_CLASS raised {error}" in failure_of(done, site.url)
    assert "raised" in done.explain(site.url.rstrip("/") + BAD).dropped_by


def test_a_start_request_is_lost_and_the_others_are_not(site: SiteServer, tmp_path: Path) -> None:
    wanted = [f"{site.url}p/{n}.html" for n in (1, 3, 5)]
    done = run(tmp_path, Fetcher, "Picky", urls=wanted)
    assert done.reason == "finished"
    assert urls(done.stored()) == ["/p/1.html", "/p/5.html"]
    assert done.stats["spider_exceptions/KeyError"] == 1


def test_a_redirect_that_is_lost_is_no_success(site: SiteServer, tmp_path: Path) -> None:
    done = run(tmp_path, Fetcher, "Picky", urls=[f"{site.url}r/3", f"{site.url}r/5"])
    assert urls(done.stored()) == ["/p/5.html"]
    assert "REQUEST_FINGERPRINTER_CLASS raised KeyError" in failure_of(done, f"{site.url}r/3")
    assert done.stats["frontier/failed"] == 1
