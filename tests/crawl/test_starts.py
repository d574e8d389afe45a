"""Each request that `start()` yields is fetched, and once: after a crash, and by two workers."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from crawling import Crawl, crawl, start_crawl, times
from scrapy import Request, Spider
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from walking import Walker

from launchers.redis import RedisServer
from weft.testing import SiteServer, until

ONE, TWO = "p/1.html", "p/2.html"
SLOW = {"CONCURRENT_REQUESTS": 1}


class Starting(Spider):
    """`crew`: how many workers to wait for. `is_killed`: it dies on its first page."""

    crew = 1
    is_killed = False

    def __init__(self, site: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.site = site

    async def start(self) -> AsyncIterator[Any]:
        Path(f"{os.getpid()}.started").touch()
        await until(lambda: len([*Path().glob("*.started")]) >= self.crew, "all have started")
        for request in self.requests():
            yield request

    def requests(self) -> Sequence[Request]:
        raise NotImplementedError

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if self.is_killed:
            os.kill(os.getpid(), signal.SIGKILL)
        yield {"url": response.url.removeprefix(self.site)}


class Twice(Starting):
    """As with duplicates among `start_urls`."""

    name = "twice"
    wanted = ({"url": ONE}, {"url": ONE}, {"url": TWO})

    def requests(self) -> Sequence[Request]:
        return [Request(self.site + path, dont_filter=True) for path in (ONE, TWO, ONE)]


class Jars(Starting):
    """Several sessions on one site, as Scrapy's documentation of the cookiejar has them."""

    name = "jars"
    wanted = tuple({"url": ONE, "jar": jar} for jar in range(3))

    def requests(self) -> Sequence[Request]:
        url = self.site + ONE
        return [Request(url, meta={"cookiejar": jar}, dont_filter=True) for jar in range(3)]

    def parse(self, response: Response, **kwargs: Any) -> Any:
        for item in super().parse(response):
            yield item | {"jar": response.meta["cookiejar"]}


class TwoCallbacks(Starting):
    name = "two_callbacks"
    wanted = ({"url": ONE}, {"url": ONE, "is_other": True})

    def requests(self) -> Sequence[Request]:
        callbacks = (self.parse, self.parse_other)
        return [Request(self.site + ONE, callback, dont_filter=True) for callback in callbacks]

    def parse_other(self, response: Response) -> Any:
        for item in self.parse(response):
            yield item | {"is_other": True}


class Polling(Starting):
    """Yields one object again and again."""

    name = "polling"
    wanted = ({"url": ONE},) * 4

    def requests(self) -> Sequence[Request]:
        return [Request(self.site + ONE, dont_filter=True)] * 4


KINDS = pytest.mark.parametrize("kind", [Twice, Jars, TwoCallbacks, Polling])


def fetched(kind: type[Any]) -> dict[str, int]:
    wanted = [f"/{item['url']}" for item in kind.wanted]
    return {path: wanted.count(path) for path in wanted}


def in_order(items: Sequence[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(item, sort_keys=True) for item in items)


def check_whole(done: Crawl, kind: type[Any]) -> None:
    assert done.reason == "finished", done.log
    assert in_order(done.stored()) == in_order(kind.wanted)


@KINDS
def test_each_start_request_is_there(kind: type[Any], site: SiteServer, tmp_path: Path) -> None:
    done = crawl(tmp_path, kind, site=site.url)
    check_whole(done, kind)
    assert times(site.hits()) == fetched(kind)


@KINDS
def test_each_start_request_is_there_once_after_a_crash(
    kind: type[Any], site: SiteServer, tmp_path: Path
) -> None:
    killed = crawl(tmp_path, kind, SLOW, site=site.url, is_killed=True)
    assert killed.reason == ""
    done = crawl(tmp_path, kind, SLOW, site=site.url)
    check_whole(done, kind)
    # The page that was in progress is fetched again.
    assert times(site.hits()).total() == len(kind.wanted) + 1


@KINDS
def test_each_start_request_is_there_once_if_the_crawl_is_resumed(
    kind: type[Any], site: SiteServer, tmp_path: Path
) -> None:
    stopped = crawl(tmp_path, kind, SLOW | {"CLOSESPIDER_PAGECOUNT": 1}, site=site.url)
    assert stopped.reason == "closespider_pagecount"
    done = crawl(tmp_path, kind, site=site.url)
    check_whole(done, kind)
    assert times(site.hits()) == fetched(kind)


@KINDS
def test_two_workers_fetch_each_start_request_once(
    kind: type[Any], site: SiteServer, redis_server: RedisServer, tmp_path: Path
) -> None:
    settings = {"WEFT_STORE": redis_server.url}
    with (
        start_crawl(tmp_path, kind, settings=settings, site=site.url, crew=2) as one,
        start_crawl(tmp_path, kind, settings=settings, site=site.url, crew=2) as two,
    ):
        told = [worker.communicate(timeout=60) for worker in (one, two)]
    reports = [json.loads(output)[0] for output, _ in told]
    assert [report["reason"] for report in reports] == ["finished"] * 2, told
    assert in_order([item for report in reports for item in report["items"]]) == in_order(
        kind.wanted
    )
    assert times(site.hits()) == fetched(kind)


class Changing(Starting):
    """Its list of URLs grows, at any place."""

    name = "changing"

    def __init__(self, urls: list[str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.urls = urls

    def requests(self) -> Sequence[Request]:
        return [Request(self.site + url, dont_filter=True) for url in self.urls]


def test_a_list_that_grew_brings_only_what_is_new(site: SiteServer, tmp_path: Path) -> None:
    limit = SLOW | {"CLOSESPIDER_PAGECOUNT": 1}
    crawl(tmp_path, Changing, limit, site=site.url, urls=[ONE, TWO])
    grown = ["p/3.html", TWO, ONE, TWO, "p/5.html"]
    done = crawl(tmp_path, Changing, site=site.url, urls=grown)
    assert done.reason == "finished"
    assert times(site.hits()) == {f"/{path}": grown.count(path) for path in grown}


class Middle:
    """A middleware that drops a request of `start()`, and adds others."""

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for request in start:
            if not request.url.endswith(TWO):
                yield request
                yield request.replace(url=request.url + "?again")
                yield request


def test_start_requests_of_middlewares_count(site: SiteServer, tmp_path: Path) -> None:
    settings = {"SPIDER_MIDDLEWARES": {"test_starts.Middle": 100}}
    crawl(tmp_path, Changing, SLOW | settings, site=site.url, urls=[TWO, ONE], is_killed=True)
    done = crawl(tmp_path, Changing, settings, site=site.url, urls=[TWO, ONE])
    assert done.reason == "finished"
    assert in_order(done.stored()) == in_order(
        [{"url": ONE}, {"url": ONE}, {"url": f"{ONE}?again"}]
    )


class Kept(Starting):
    """Its callback yields the very request that `start()` has yielded."""

    name = "kept"

    def requests(self) -> Sequence[Request]:
        self.kept = Request(self.site + ONE, dont_filter=True)
        return [self.kept]

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield from super().parse(response)
        if response.meta["depth"] < 2:
            yield self.kept.replace(meta={})
            yield self.kept


def test_a_start_request_can_be_yielded_again_by_a_callback(
    site: SiteServer, tmp_path: Path
) -> None:
    done = crawl(tmp_path, Kept, site=site.url)
    assert done.reason == "finished"
    assert len(done.stored()) == len(site.hits()) == 7


def test_a_link_to_a_start_url_counts_as_new(site: SiteServer, tmp_path: Path) -> None:
    done = crawl(tmp_path, Walker, start_urls=[f"{site.url}{ONE}"] * 2)
    assert done.reason == "finished"
    assert times(site.hits())[f"/{ONE}"] == 3


class Early(Starting):
    """Its `start()` closes the crawl, and goes on."""

    name = "early"
    by = ""

    async def start(self) -> AsyncIterator[Any]:
        engine = self.crawler.engine
        if self.by == "exception":
            raise CloseSpider("enough")
        if self.by == "closing":
            await engine.close_spider_async(reason="enough")
        if self.by == "task":
            self.closing = asyncio.ensure_future(engine.close_spider_async(reason="enough"))
        if self.by == "stopping":
            await engine.stop_async()
        yield Request(self.site, dont_filter=True)
        yield {"url": "none"}


@pytest.mark.parametrize("parts", ["", "engine,signals"])
@pytest.mark.parametrize(
    ("by", "reason"),
    [("exception", "enough"), ("closing", "enough"), ("task", "enough"), ("stopping", "shutdown")],
)
def test_start_can_close_the_crawl(
    by: str, reason: str, parts: str, site: SiteServer, tmp_path: Path
) -> None:
    done = crawl(tmp_path, Early, {"WEFT_SCRAPY_PARTS": parts}, site=site.url, by=by)
    assert done.reason == reason
    assert "] ERROR" not in done.log
    assert "Traceback" not in done.log
