"""Claims that are given to others, and stores that go back in time, cost some work and no page."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from crawling import crawl, times, urls
from scrapy import Request
from scrapy.http import Response, TextResponse
from twisted.python.failure import Failure
from walking import Walker

from weft.engine.scrapy.scheduler import crawl_of
from weft.frontier import RocksFrontier
from weft.testing import Site, SiteServer

PAGES = ["/", *(f"/p/{n}.html" for n in range(1, 10))]


def pages(site: SiteServer) -> dict[str, int]:
    """How often each page was fetched."""
    return {path: count for path, count in times(site.hits()).items() if path in PAGES}


class Robbed(Walker):
    """While it works on its first page, all its other claims are given to somebody else."""

    name = "robbed"

    async def parse(self, response: Response, **kwargs: Any) -> AsyncIterator[Any]:
        yield {"url": response.url}
        assert isinstance(response, TextResponse)
        for request in response.follow_all(css="a", errback=self.note_error):
            yield request
        if response.request and not response.meta.get("depth"):
            await self.be_robbed(response)

    def note_error(self, failure: Failure) -> Any:
        yield {"url": f"error {failure.value!r}"}

    async def be_robbed(self, response: Response) -> None:
        # They stand in line before the gate, and the next pages behind them.
        engine = self.crawler.engine
        inline = [
            asyncio.ensure_future(engine.download_async(Request(response.urljoin("/status/200"))))
            for _ in range(8)
        ]
        crawl = crawl_of(self.crawler)
        claims = crawl._claims
        await asyncio.sleep(0.35)
        assert len(claims.hand) >= 3  # this page, and some that stand in line
        held = [*claims.hand._claims, *(claim.token for claim in claims.ready)]
        assert response.request
        own = crawl.fates.get(response.request)
        assert own
        held.remove(own.claim.token)
        assert all(await crawl._frontier.release(held))
        claims.renewals.doubt()  # as if the time were over
        await asyncio.gather(*inline)


def test_a_lost_claim_is_not_sent_and_the_spider_does_not_hear_of_it(tmp_path: Path) -> None:
    with SiteServer(Site(pages=10, links=3)) as site:
        done = crawl(tmp_path, Robbed, {"DOWNLOAD_DELAY": 0.1}, start_urls=[site.url])
        assert pages(site) == dict.fromkeys(PAGES, 1)
    assert set(urls(done.items)) == set(PAGES)
    assert set(urls(done.stored())) == set(PAGES)
    assert done.stats["frontier/released"] >= 2
    assert "claims are no longer this worker's" in done.log


class Restarted(Walker):
    """Its store is restarted while it works on a page."""

    name = "restarted"

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield from super().parse(response, **kwargs)
        if response.url.endswith("/p/2.html"):
            frontier = crawl_of(self.crawler)._frontier
            assert isinstance(frontier, RocksFrontier)
            frontier.restarts = 1


def test_pages_under_way_are_worked_on_again_when_the_store_was_restarted(tmp_path: Path) -> None:
    with SiteServer(Site(pages=10, links=3)) as site:
        done = crawl(tmp_path, Restarted, {"CONCURRENT_REQUESTS": 1}, start_urls=[site.url])
        assert pages(site)["/p/2.html"] == 2
    assert done.reason == "finished"
    assert set(urls(done.stored())) == set(PAGES)
    assert len(done.stored()) == len(PAGES)
    assert "are fetched again" in done.log
