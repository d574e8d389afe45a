"""A job can be interrupted, resumed and run again."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from crawling import Crawl, crawl, paths, start_crawl, times, urls
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from walking import Fetcher, Walker

from weft.testing import Site, SiteServer

ALL_PAGES = ["/", *(f"/p/{n}.html" for n in range(1, 10))]


class Closing(Walker):
    """Ends itself on one of its pages."""

    name = "walker"

    def __init__(self, end_on: str, by: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.end_on = end_on
        self.by = by

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield from super().parse(response, **kwargs)
        if response.url.endswith(self.end_on):
            if self.by == "exception":
                raise CloseSpider("enough")
            os.kill(os.getpid(), signal.SIGKILL if self.by == "kill" else signal.SIGINT)


class Starter(Walker):
    """Fetches its start URLs, unfiltered as usual, and follows nothing."""

    name = "starter"

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield {"url": response.url}


SLOW = {"CONCURRENT_REQUESTS": 1}


def check_whole(done: Crawl) -> None:
    """After this run, each page's item is stored, once."""
    assert done.reason == "finished"
    assert urls(done.stored()) == ALL_PAGES


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        ({"CLOSESPIDER_PAGECOUNT": 3}, "closespider_pagecount"),
        ({"CLOSESPIDER_ITEMCOUNT": 3}, "closespider_itemcount"),
        ({"WEFT_MAX_PAGES": 3}, "max_pages"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_next_run_goes_on_where_a_limit_stopped_the_last(
    limit: dict[str, int], reason: str, site: SiteServer, tmp_path: Path
) -> None:
    first = crawl(tmp_path, Walker, SLOW | limit, start_urls=[site.url])
    assert first.reason == reason
    fetched = times(site.hits())
    assert 3 <= fetched.total() <= 5  # Scrapy lets requests under way finish

    second = crawl(tmp_path, Walker, start_urls=[site.url])
    check_whole(second)
    assert set(times(site.hits()).values()) == {1}


@pytest.mark.parametrize(("by", "reason"), [("exception", "enough"), ("interrupt", "shutdown")])
def test_the_next_run_goes_on_where_a_callback_stopped_the_last(
    by: str, reason: str, site: SiteServer, tmp_path: Path
) -> None:
    first = crawl(tmp_path, Closing, SLOW, start_urls=[site.url], end_on="/p/2.html", by=by)
    assert first.reason == reason
    second = crawl(tmp_path, Walker, start_urls=[site.url])
    check_whole(second)
    assert set(times(site.hits()).values()) == {1}


def test_a_killed_crawl_goes_on_and_loses_nothing(site: SiteServer, tmp_path: Path) -> None:
    killed = crawl(tmp_path, Closing, start_urls=[site.url], end_on="/p/2.html", by="kill")
    assert killed.reason == ""
    second = crawl(tmp_path, Walker, start_urls=[site.url])
    check_whole(second)


def test_start_requests_are_not_sent_again_by_the_next_run(
    site: SiteServer, tmp_path: Path
) -> None:
    starts = [f"{site.url}p/{n}.html" for n in range(1, 6)]
    limit = SLOW | {"CLOSESPIDER_PAGECOUNT": 2}
    crawl(tmp_path, Starter, limit, start_urls=starts)
    stopped_at = len(site.hits())
    assert stopped_at < 5
    done = crawl(tmp_path, Starter, start_urls=starts)
    assert sorted(paths(site.hits())) == [f"/p/{n}.html" for n in range(1, 6)]
    assert len(done.stored()) == 5


def test_a_finished_job_starts_afresh_and_keeps_each_item_once(
    site: SiteServer, tmp_path: Path
) -> None:
    wanted = [f"{site.url}p/1.html"]
    first = crawl(tmp_path, Fetcher, urls=wanted)
    second = crawl(tmp_path, Fetcher, urls=wanted)
    assert times(site.hits()) == {"/p/1.html": 2}
    assert first.items == second.items == second.stored()


def test_a_finished_job_fetches_only_what_is_new_without_rerun(
    site: SiteServer, tmp_path: Path
) -> None:
    wanted = [f"{site.url}p/1.html"]
    crawl(tmp_path, Fetcher, urls=wanted)
    second = crawl(tmp_path, Fetcher, {"WEFT_RERUN": False}, urls=[*wanted, f"{site.url}p/2.html"])
    assert paths(site.hits()) == ["/p/1.html", "/p/2.html"]
    assert second.reason == "finished"
    assert urls(second.stored()) == ["/p/1.html", "/p/2.html"]


def test_a_fresh_crawl_forgets_the_frontier_and_the_items(site: SiteServer, tmp_path: Path) -> None:
    limit = SLOW | {"CLOSESPIDER_PAGECOUNT": 2}
    crawl(tmp_path, Fetcher, limit, urls=[f"{site.url}p/{n}.html" for n in range(1, 6)])
    second = crawl(tmp_path, Fetcher, {"WEFT_FRESH": True}, urls=[f"{site.url}p/6.html"])
    assert paths(site.hits())[-1] == "/p/6.html"
    assert "/p/5.html" not in paths(site.hits())
    assert urls(second.stored()) == ["/p/6.html"]


def test_a_second_process_is_told_that_the_job_is_in_use(tmp_path: Path) -> None:
    with SiteServer(Site(pages=2)) as site:
        slow = [site.url_of("127.0.0.1", "/slow/20")]
        with start_crawl(tmp_path, Fetcher, urls=slow) as first:
            assert first.stderr
            while "Spider opened" not in first.stderr.readline():
                pass
            second = crawl(tmp_path, Fetcher, urls=slow)
            first.kill()
            first.communicate()
    assert "is in use by another process" in second.log
    assert "Traceback" not in second.log
    assert second.items == []
    assert second.reason == "store_error"
