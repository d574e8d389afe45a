"""`yield FollowAll(links)`: a page's links as one batch, handled as requests would be."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from crawling import crawl, times, urls
from scrapy import Request, Spider
from scrapy.http import Response, TextResponse
from twisted.python.failure import Failure

from weft import FollowAll, LinkExtractor
from weft.records import Ending, PageKind
from weft.testing import Site, SiteServer


@pytest.fixture
def site() -> Iterator[SiteServer]:
    with SiteServer(Site(pages=30, links=6, redirects_every=7)) as server:
        yield server


class Follower(Spider):
    name = "follower"
    links = LinkExtractor()

    def __init__(self, site: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [site]

    def parse(self, response: Response, **kwargs: Any) -> Any:
        assert isinstance(response, TextResponse)
        yield {"url": response.url, "depth": response.meta.get("depth", 0), **kwargs}
        yield FollowAll(self.links.extract_links(response))


class AsyncFollower(Follower):
    name = "async_follower"

    async def parse(self, response: Response, **kwargs: Any) -> Any:
        assert isinstance(response, TextResponse)
        yield {"url": response.url}
        yield FollowAll(link.url for link in self.links.extract_links(response))


@pytest.mark.parametrize("spider", [Follower, AsyncFollower])
@pytest.mark.parametrize("parts", ["", "engine,signals,duplicates"])
def test_a_site_is_crawled_by_its_links(
    spider: type[Follower], parts: str, site: SiteServer, tmp_path: Path
) -> None:
    done = crawl(tmp_path, spider, {"WEFT_SCRAPY_PARTS": parts}, site=site.url)
    # The start page is asked for unfiltered, as Scrapy does, and found again as a link.
    assert set(urls(done.stored())) == {"/", *(f"/p/{n}.html" for n in range(1, 30))}
    assert times(site.hits()).most_common(1)[0][1] == 1 + ("/" in times(site.hits()))
    assert done.stats["scheduler/enqueued"] == done.stats["frontier/added"]


class Chooser(Follower):
    name = "chooser"

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield FollowAll(["p/1.html"], self.parse_named, priority=1, cb_kwargs={"by": {1, 2}})
        yield FollowAll(["p/2.html"], self.parse_named, kind="nav", cb_kwargs={"by": "nav"})

    def parse_named(self, response: Response, by: Any) -> Any:
        yield {"url": response.url, "by": by, "depth": response.meta["depth"]}


def test_links_have_a_callback_a_kind_and_arguments(site: SiteServer, tmp_path: Path) -> None:
    done = crawl(tmp_path, Chooser, site=site.url)
    assert sorted((item["url"][-6], item["by"], item["depth"]) for item in done.items) == [
        ("1", [1, 2], 1) if isinstance(done.items[0]["by"], list) else ("1", "{1, 2}", 1),
        ("2", "nav", 1),
    ]
    assert done.explain(f"{site.url}p/1.html").kind is PageKind.DATA
    assert done.explain(f"{site.url}p/2.html").kind is PageKind.NAV


def test_deep_links_are_dropped_and_explained(tmp_path: Path) -> None:
    with SiteServer(Site(pages=13, links=3)) as site:
        done = crawl(tmp_path, Follower, {"DEPTH_LIMIT": 1}, site=site.url)
        assert {item["depth"] for item in done.stored()} == {0, 1}
        dropped = [
            told.dropped_by
            for n in range(1, 13)
            if not (told := done.explain(f"{site.url}p/{n}.html")).fetches
        ]
        assert "deeper than DEPTH_LIMIT 1" in dropped


class Allowed(Follower):
    name = "allowed"
    allowed_domains = ("127.0.0.1",)

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield {"url": response.url}
        if response.url in self.start_urls:
            yield FollowAll(["p/1.html", "http://elsewhere.invalid/", "mailto:a@b"])


def test_links_out_of_the_allowed_domains_are_not_followed(
    site: SiteServer, tmp_path: Path
) -> None:
    done = crawl(tmp_path, Allowed, site=site.url)
    assert urls(done.stored()) == ["/", "/p/1.html"]
    assert done.stats["offsite/filtered"] == 1
    assert done.explain("http://elsewhere.invalid/").seen_at_ms is None


class Misled(Follower):
    name = "misled"
    responses: ClassVar[list[Response]] = []

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.start_urls[0])
        yield Request("http://nowhere.invalid/", errback=self.failed)

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield FollowAll(["p/1.html"], callback=self.responses.append)
        yield FollowAll([f"p/{n}.html" for n in (2, 5)], cb_kwargs={"x": object()})
        yield FollowAll(["p/3.html"], kind="other")  # type: ignore[arg-type]
        yield {"url": response.url}

    def failed(self, failure: Failure) -> Any:
        yield FollowAll(["p/4.html"])


def test_links_that_cannot_be_packed_are_kept_and_wrong_ones_cost_only_themselves(
    site: SiteServer, tmp_path: Path
) -> None:
    done = crawl(tmp_path, Misled, site=site.url)
    assert urls(done.stored()) == ["/", "/p/2.html", "/p/5.html"]
    assert "/p/1.html" in times(site.hits())
    for told in ("callback", "weft_kind", "an errback yields"):
        assert told in done.log
    assert done.explain(site.url).fetches[-1].ending is Ending.DONE
    assert "cb_kwargs['x'] is a object" in done.explain(f"{site.url}p/2.html").dropped_by


class FromStart(Follower):
    name = "from_start"

    async def start(self) -> AsyncIterator[Any]:
        yield FollowAll(self.start_urls)


def test_a_start_yields_requests(site: SiteServer, tmp_path: Path) -> None:
    done = crawl(tmp_path, FromStart, site=site.url)
    assert done.stored() == []
    assert "FollowAll is for the links of a page; start() yields requests" in done.log
