"""The leaner parts of Scrapy do what Scrapy's own do, also where a project goes its own ways."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from crawling import Crawl, crawl, urls
from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem
from scrapy.http import Response
from walking import Fetcher, Walker

from weft.testing import Site, SiteServer

BOTH = pytest.mark.parametrize("parts", ["", "engine,signals"], ids=["lean", "scrapy"])


@pytest.fixture(scope="module")
def site() -> Iterator[SiteServer]:
    with SiteServer(Site(pages=20, links=5)) as server:
        yield server


def run(
    directory: Path, spider: type[Spider], parts: str, site: SiteServer, **settings: Any
) -> Crawl:
    settings["WEFT_SCRAPY_PARTS"] = parts
    return crawl(directory, spider, settings, urls=[f"{site.url}p/{n}.html" for n in (1, 2)])


def new(directory: Path) -> Path:
    directory.mkdir()
    return directory


# Items


class Slow:
    """A pipeline that notes how many items it has at a time."""

    now = most = 0

    async def process_item(self, item: Any) -> Any:
        Slow.now += 1
        Slow.most = max(Slow.most, Slow.now)
        await asyncio.sleep(0.02)
        Slow.now -= 1
        if item["number"] == 3:
            raise DropItem("three")
        if item["number"] == 4:
            raise ValueError("four")
        return item | {"most": Slow.most}


class Many(Fetcher):
    name = "many"

    def parse(self, response: Response, **kwargs: Any) -> Any:
        for number in range(10):
            yield {"url": response.url, "number": number}


@BOTH
@pytest.mark.parametrize("at_a_time", [1, 4])
def test_items_of_a_page_are_processed_beside_each_other(
    parts: str, at_a_time: int, site: SiteServer, tmp_path: Path
) -> None:
    settings = {
        "ITEM_PIPELINES": {"test_lean_parts.Slow": 1},
        "CONCURRENT_ITEMS": at_a_time,
        "WEFT_SCRAPY_PARTS": parts,
    }
    done = crawl(tmp_path, Many, settings, urls=[site.url])
    assert sorted(item["number"] for item in done.stored()) == [0, 1, 2, *range(5, 10)]
    assert max(item["most"] for item in done.stored()) == at_a_time
    assert (done.stats["item_dropped_count"], done.stats["item_scraped_count"]) == (1, 8)
    assert done.log.count("ValueError: four") == 1


# Middlewares


class Doubling:
    """Asynchronous only, as new middlewares are."""

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        async for thing in result:
            yield thing
            if isinstance(thing, dict):
                yield thing | {"is_double": True}


class Saving:
    """Makes an item of what a callback raises."""

    def process_spider_exception(self, response: Response, exception: Exception) -> Iterable[Any]:
        return [{"url": response.url, "saved": str(exception)}]


class Failing(Fetcher):
    name = "failing"

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield {"url": response.url}
        raise ValueError("broken")


@BOTH
def test_an_asynchronous_middleware_is_used(parts: str, site: SiteServer, tmp_path: Path) -> None:
    more = {"SPIDER_MIDDLEWARES": {"test_lean_parts.Doubling": 500}}
    done = run(tmp_path, Fetcher, parts, site, **more)
    assert [("is_double" in item) for item in done.stored()].count(True) == 2


@BOTH
def test_a_middleware_can_save_what_a_callback_raises(
    parts: str, site: SiteServer, tmp_path: Path
) -> None:
    more = {"SPIDER_MIDDLEWARES": {"test_lean_parts.Saving": 500}}
    done = run(tmp_path, Failing, parts, site, **more)
    assert sorted(item.get("saved", "") for item in done.stored()) == ["", "", "broken", "broken"]
    assert "spider_exceptions/count" not in done.stats


@BOTH
def test_what_nobody_saves_is_told_and_counted(
    parts: str, site: SiteServer, tmp_path: Path
) -> None:
    done = run(tmp_path, Failing, parts, site)
    assert len(done.stored()) == 2  # what was yielded before
    assert done.stats["spider_exceptions/ValueError"] == 2
    assert done.log.count("ValueError: broken") == 2


class Wrong:
    def process_response(self, request: Request, response: Response) -> Any:
        return "a text"


class Late:
    """Answers later, and with another response."""

    async def process_response(self, request: Request, response: Response) -> Response:
        await asyncio.sleep(0.001)
        return response.replace(status=299)


@BOTH
def test_a_middleware_that_returns_nonsense_is_told(
    parts: str, site: SiteServer, tmp_path: Path
) -> None:
    done = run(
        tmp_path, Fetcher, parts, site, DOWNLOADER_MIDDLEWARES={"test_lean_parts.Wrong": 500}
    )
    assert done.stored() == []
    assert "Wrong.process_response must return Response or Request" in done.log


@BOTH
def test_a_middleware_may_answer_later(parts: str, site: SiteServer, tmp_path: Path) -> None:
    done = run(tmp_path, Fetcher, parts, site, DOWNLOADER_MIDDLEWARES={"test_lean_parts.Late": 500})
    assert [item["status"] for item in done.stored()] == [299, 299]


# Signals


class Listener:
    """An extension whose receivers wait, or fail."""

    def __init__(self, crawler: Crawler) -> None:
        self._stats = crawler.stats
        crawler.signals.connect(self._wait, signals.item_scraped)
        crawler.signals.connect(self._fail, signals.item_scraped)
        crawler.signals.connect(self._count, signals.request_scheduled)

    from_crawler = classmethod(lambda cls, crawler: cls(crawler))

    async def _wait(self, item: Any) -> None:
        await asyncio.sleep(0.01)
        self._stats.inc_value("listener/items")

    def _fail(self, **kwargs: Any) -> None:
        raise RuntimeError("no")

    def _count(self, request: Request) -> None:
        self._stats.inc_value("listener/scheduled")


@BOTH
def test_receivers_may_wait_and_fail(parts: str, site: SiteServer, tmp_path: Path) -> None:
    done = run(tmp_path, Fetcher, parts, site, EXTENSIONS={"test_lean_parts.Listener": 1})
    assert done.stats["listener/items"] == 2
    assert done.log.count("RuntimeError: no") == 2
    assert len(done.stored()) == 2


def test_a_listener_hears_of_duplicates_too(site: SiteServer, tmp_path: Path) -> None:
    """They are dropped early only if nobody would miss them."""
    settings = {"EXTENSIONS": {"test_lean_parts.Listener": 1}}
    with_listener = crawl(new(tmp_path / "a"), Walker, settings, start_urls=[site.url])
    alone = crawl(new(tmp_path / "b"), Walker, start_urls=[site.url])
    assert urls(with_listener.stored()) == urls(alone.stored())
    filtered = "dupefilter/filtered"
    assert with_listener.stats[filtered] == alone.stats[filtered]
    wanted = with_listener.stats["scheduler/enqueued"] + with_listener.stats[filtered]
    assert with_listener.stats["listener/scheduled"] == wanted


# A page that gives very much


class Flood(Fetcher):
    name = "flood"

    def parse(self, response: Response, **kwargs: Any) -> Any:
        asyncio.get_running_loop().call_soon(self._note)
        self.notes = 0
        for number in range(1000):
            yield {"url": response.url, "number": number, "notes": self.notes}

    def _note(self) -> None:
        self.notes += 1


def test_others_have_a_turn_while_a_page_gives_very_much(site: SiteServer, tmp_path: Path) -> None:
    done = crawl(tmp_path, Flood, urls=[site.url])
    notes = [item["notes"] for item in done.items]
    assert (notes[0], notes[-1]) == (0, 1)
