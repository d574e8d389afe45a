"""The leaner parts of Scrapy do what Scrapy's own do, even where a project goes its own way."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from crawling import Crawl, crawl, urls
from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem
from scrapy.http import Response
from scrapy.logformatter import LogFormatter
from scrapy.pipelines import ItemPipelineManager
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.internet.defer import Deferred, succeed
from twisted.python.failure import Failure
from walking import Fetcher, Walker

from weft.engine.http.handler import HttpHandler
from weft.records import Ending
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


class Stamping(ItemPipelineManager):
    async def process_item_async(self, item: Any) -> Any:
        return await super().process_item_async(item | {"by": "Stamping"})


class OldStamping(ItemPipelineManager):
    """As for Scrapy before 2.14."""

    def process_item(self, item: Any, spider: Spider) -> Deferred[Any]:
        return super().process_item(item | {"by": "OldStamping"}, spider)


class BareStamping:
    """Derived from nothing, and without pipelines."""

    def open_spider(self, spider: Spider) -> Deferred[None]:
        return succeed(None)

    def close_spider(self, spider: Spider) -> Deferred[None]:
        return succeed(None)

    def process_item(self, item: Any, spider: Spider) -> Deferred[Any]:
        return succeed(item | {"by": "BareStamping"})


@BOTH
@pytest.mark.parametrize("name", ["Stamping", "OldStamping", "BareStamping"])
def test_the_item_processor_of_a_project_is_used(
    name: str, parts: str, site: SiteServer, tmp_path: Path
) -> None:
    settings = {
        "ITEM_PROCESSOR": f"test_lean_parts.{name}",
        "ITEM_PIPELINES": {"test_lean_parts.Slow": 1},
        "WEFT_SCRAPY_PARTS": parts,
    }
    done = crawl(tmp_path, Many, settings, urls=[site.url])
    numbers = range(10) if name == "BareStamping" else [0, 1, 2, *range(5, 10)]
    assert sorted(item["number"] for item in done.stored()) == list(numbers)
    assert {item["by"] for item in done.stored()} == {name}


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


# A page that yields very many items


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


# What goes wrong, reported as Scrapy reports it


class Refusing(Fetcher):
    """The engine does not take what a redirect leads to."""

    name = "refusing"

    async def start(self) -> AsyncIterator[Any]:
        engine = self.crawler.engine
        schedule = engine._schedule_request

        def refuse(request: Request) -> None:
            if "redirect_times" in request.meta:
                raise RuntimeError("no")
            schedule(request)

        engine._schedule_request = refuse  # type: ignore[method-assign]
        async for request in super().start():
            yield request


def levels_of(message: str, log: str) -> list[str]:
    """The levels at which the engine and its parts said so."""
    return re.findall(rf"\[scrapy\.core\.\w+\] (\w+): {message}", log)


@BOTH
def test_a_redirect_that_the_engine_does_not_take_is_worth_an_info(
    parts: str, site: SiteServer, tmp_path: Path
) -> None:
    done = crawl(tmp_path, Refusing, {"WEFT_SCRAPY_PARTS": parts}, urls=[f"{site.url}r/1"])
    assert done.reason == "finished"
    assert levels_of("Error while handling downloader output", done.log) == ["INFO"]
    assert done.log.count("RuntimeError: no") == 1


class PassingOn(Fetcher):
    """An errback that yields something, and raises what it was given."""

    name = "passing_on"

    async def start(self) -> AsyncIterator[Any]:
        for url in self.urls:
            yield Request(url, errback=self.failed)

    def failed(self, failure: Failure) -> Any:
        assert isinstance(failure.value, HttpError)
        yield {"url": failure.value.response.url}
        failure.raiseException()


@BOTH
def test_a_response_that_is_not_allowed_is_ignored_and_no_error(
    parts: str, site: SiteServer, tmp_path: Path
) -> None:
    settings = {"WEFT_SCRAPY_PARTS": parts}
    done = crawl(tmp_path, PassingOn, settings, urls=[f"{site.url}status/404"])
    assert urls(done.items) == ["/status/404"]
    assert done.stats["httperror/response_ignored_count"] == 1
    assert "spider_exceptions/count" not in done.stats
    assert "ERROR" not in done.log
    [fetch] = done.explain(f"{site.url}status/404").fetches
    assert (fetch.ending, fetch.note) == (Ending.FAILED, "status 404")


@BOTH
def test_where_nobody_minds_the_status_it_is_an_error(
    parts: str, site: SiteServer, tmp_path: Path
) -> None:
    settings = {
        "WEFT_SCRAPY_PARTS": parts,
        "SPIDER_MIDDLEWARES": {"scrapy.spidermiddlewares.httperror.HttpErrorMiddleware": None},
    }
    done = crawl(tmp_path, NotAllowed, settings, urls=[f"{site.url}status/404"])
    assert done.stats["spider_exceptions/HttpError"] == 1
    assert levels_of("Spider error", done.log) == ["ERROR"]


class NotAllowed(Fetcher):
    name = "not_allowed"

    def parse(self, response: Response, **kwargs: Any) -> Any:
        raise HttpError(response, "not this one")
        yield


class Nonsense:
    def process_request(self, request: Request) -> Any:
        return "a text"


class Nothing(HttpHandler):
    async def download_request(self, request: Request) -> Any:
        return None


@BOTH
def test_nonsense_is_told_in_the_same_words(parts: str, site: SiteServer, tmp_path: Path) -> None:
    settings = {"DOWNLOADER_MIDDLEWARES": {"test_lean_parts.Nonsense": 500}}
    done = run(new(tmp_path / "request"), Fetcher, parts, site, **settings)
    assert "Nonsense.process_request must return None, Response or Request, got str\n" in done.log
    handlers = {"DOWNLOAD_HANDLERS": {"http": "test_lean_parts.Nothing"}}
    done = run(new(tmp_path / "response"), Fetcher, parts, site, **handlers)
    assert done.log.count("TypeError: Received None in process_response") == 2


class Cancelling:
    """An extension that waits for something that was cancelled."""

    def __init__(self, crawler: Crawler) -> None:
        crawler.signals.connect(self._wait, signals.item_scraped)

    from_crawler = classmethod(lambda cls, crawler: cls(crawler))

    async def _wait(self, item: Any) -> None:
        task = asyncio.ensure_future(asyncio.sleep(60))
        task.cancel()
        await task


@BOTH
def test_a_receiver_that_is_cancelled_costs_nothing(
    parts: str, site: SiteServer, tmp_path: Path
) -> None:
    done = crawl(
        tmp_path,
        Many,
        {"EXTENSIONS": {"test_lean_parts.Cancelling": 1}, "WEFT_SCRAPY_PARTS": parts},
        urls=[site.url],
    )
    assert sorted(item["number"] for item in done.stored()) == [*range(10)]


class Fussy(LogFormatter):
    """A log formatter of the project, with a mistake in it."""

    def scraped(self, item: Any, response: Any, spider: Spider) -> Any:
        if item["number"] == 3:
            raise ValueError("three")


class Pass:
    def process_item(self, item: Any) -> Any:
        return item


@pytest.mark.parametrize("pipelines", [{}, {"test_lean_parts.Pass": 1}])
def test_a_log_formatter_that_fails_costs_one_item_and_is_told(
    pipelines: dict[str, int], site: SiteServer, tmp_path: Path
) -> None:
    settings = {"LOG_FORMATTER": "test_lean_parts.Fussy", "ITEM_PIPELINES": pipelines}
    done = crawl(tmp_path, Many, settings, urls=[site.url])
    assert sorted(item["number"] for item in done.stored()) == [0, 1, 2, *range(4, 10)]
    assert done.stats["spider_exceptions/ValueError"] == 1
    [fetch] = done.explain(site.url).fetches
    assert (fetch.ending, fetch.note) == (Ending.FAILED, "the spider raised ValueError: three")
