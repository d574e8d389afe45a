"""A URL that failed is tried again when it is found a day later, even by the same process."""

from pathlib import Path
from typing import Any

import pytest
from crawling import crawl, times
from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider
from scrapy.http import HtmlResponse, Response
from selectolax.lexbor import LexborHTMLParser
from walking import Fetcher

from weft import FollowAll
from weft.clock import SystemClock
from weft.engine.scrapy.scheduler import crawl_of
from weft.engine.spiders.site import base_of, new_links
from weft.testing import SiteServer

DAY_MS = 24 * 3_600_000
DEAD = "/missing/page"


class Patient(Fetcher):
    """Finds a dead link; when all is done, time passes, and it is found on the next page."""

    name = "patient"
    passing_ms = DAY_MS + 1

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> "Patient":
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.idle, signals.spider_idle)
        return spider

    async def start(self) -> Any:
        yield Request(self.urls.pop())

    def idle(self) -> None:
        if self.urls:
            wait(self.passing_ms)
            self.crawler.engine.crawl(Request(self.urls.pop(), dont_filter=True))
            raise DontCloseSpider

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield response.follow(DEAD)


class PatientInBatches(Patient):
    name = "patient_in_batches"

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield FollowAll([DEAD])


class PatientByText(Patient):
    """As the spider of `weft crawl URL` does it."""

    name = "patient_by_text"

    def parse(self, response: Response, **kwargs: Any) -> Any:
        assert isinstance(response, HtmlResponse)
        tree = LexborHTMLParser(f'<a href="{DEAD}">dead</a>')
        base = base_of(tree, response.url)
        assert base is not None
        known = crawl_of(self.crawler).requests.adder.known_hrefs(1)
        yield FollowAll(new_links(tree, base, {base.hostname}, known))


class Impatient(Patient):
    name = "impatient"
    passing_ms = DAY_MS - 60_000


def wait(ms: int) -> None:
    """For all clocks of this process."""
    real = SystemClock.now_ms
    SystemClock.now_ms = lambda self: real(self) + ms  # type: ignore[method-assign]


def fetched(spider: type[Patient], site: SiteServer, directory: Path) -> int:
    """How often the dead link was fetched."""
    done = crawl(directory, spider, urls=[f"{site.url}p/{n}.html" for n in (1, 2, 3)])
    assert done.reason == "finished", done.log
    return times(site.hits())[DEAD]


@pytest.mark.parametrize("spider", [Patient, PatientInBatches, PatientByText])
def test_what_failed_is_taken_again_when_it_is_found_a_day_later(
    spider: type[Patient], site: SiteServer, tmp_path: Path
) -> None:
    assert fetched(spider, site, tmp_path) == 3


def test_what_failed_is_not_taken_again_on_the_same_day(site: SiteServer, tmp_path: Path) -> None:
    assert fetched(Impatient, site, tmp_path) == 2
