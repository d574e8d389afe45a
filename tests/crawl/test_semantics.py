"""Requests and responses mean the same with Weft as they do in plain Scrapy."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from crawling import crawl, crawl_all, paths, times, urls
from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider
from scrapy.http import Response, TextResponse
from twisted.python.failure import Failure
from walking import Fetcher, Walker

from weft.records import Ending, PageKind
from weft.testing import Site, SiteServer

ALL_PATHS = ["/", *(f"/p/{n}.html" for n in range(1, 10))]


# Redirects


def test_an_item_has_the_url_that_a_redirect_led_to(site: SiteServer, tmp_path: Path) -> None:
    done = crawl(tmp_path, Fetcher, urls=[site.url_of("127.0.0.1", "/r/3")])
    assert urls(done.items) == ["/p/3.html"]
    assert paths(site.hits()) == ["/r/3", "/p/3.html"]
    assert [fetch.ending for fetch in done.explain(f"{site.url}r/3").fetches] == [Ending.REPLACED]
    assert [fetch.ending for fetch in done.explain(f"{site.url}p/3.html").fetches] == [Ending.DONE]


def test_a_redirect_to_a_known_page_is_filtered(site: SiteServer, tmp_path: Path) -> None:
    settings = {"CONCURRENT_REQUESTS": 1}
    done = crawl(tmp_path, Fetcher, settings, urls=[f"{site.url}p/3.html", f"{site.url}r/3"])
    assert paths(site.hits()) == ["/p/3.html", "/r/3"]
    assert done.stats["dupefilter/filtered"] == 1


class Homing(Walker):
    """The start page is a redirect to a page that links to itself."""

    name = "homing"

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield response.follow(response.url, self.parse_home)

    def parse_home(self, response: Response) -> Any:
        yield {"url": response.url}


def test_a_start_page_that_was_redirected_to_can_be_found_as_a_link(
    site: SiteServer, tmp_path: Path
) -> None:
    done = crawl(tmp_path, Homing, start_urls=[f"{site.url}r/3"])
    assert urls(done.items) == ["/p/3.html"]
    assert paths(site.hits()) == ["/r/3", "/p/3.html", "/p/3.html"]


def test_a_redirect_loop_ends(site: SiteServer, tmp_path: Path) -> None:
    settings = {"REDIRECT_MAX_TIMES": 3}
    done = crawl(tmp_path, Walker, settings, start_urls=[f"{site.url}redirect-loop"])
    assert done.reason == "finished"
    assert len(site.hits()) == 4
    last = done.explain(f"{site.url}redirect-loop").fetches[-1]
    assert (last.ending, last.note) == (Ending.DROPPED, "max redirections reached")


# Retries and errors


def test_a_page_that_fails_once_is_retried(tmp_path: Path) -> None:
    with SiteServer(Site(pages=4, flaky_every=2)) as site:
        done = crawl(tmp_path, Walker, start_urls=[site.url])
        assert times(site.hits())["/p/2.html"] == 2
        assert len(done.stored()) == 5  # page 0 is the start and a link
        history = done.explain(f"{site.url}p/2.html").fetches
    assert [(fetch.status, fetch.ending) for fetch in history] == [
        (500, Ending.REPLACED),
        (200, Ending.DONE),
    ]


def test_retries_end_after_retry_times(site: SiteServer, tmp_path: Path) -> None:
    done = crawl(tmp_path, Fetcher, {"RETRY_TIMES": 2}, urls=[f"{site.url}status/500"])
    assert [hit.status for hit in site.hits()] == [500] * 3
    assert done.stats["retry/max_reached"] == 1
    last = done.explain(f"{site.url}status/500").fetches[-1]
    assert (last.ending, last.status) == (Ending.FAILED, 500)


class Catcher(Spider):
    name = "catcher"

    def __init__(self, urls: list[str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.urls = urls

    async def start(self) -> AsyncIterator[Any]:
        for url in self.urls:
            yield Request(url, errback=self.failed)

    def failed(self, failure: Failure) -> Any:
        request: Request = failure.request  # type: ignore[attr-defined]
        yield {"url": request.url, "error": type(failure.value).__name__}


def test_an_errback_gets_the_failure(site: SiteServer, tmp_path: Path) -> None:
    wrong = [f"{site.url}missing/1", "http://127.0.0.1:1/refused", f"{site.url}broken/header"]
    done = crawl(tmp_path, Catcher, {"RETRY_ENABLED": False}, urls=wrong)
    errors = {item["url"]: item["error"] for item in done.items}
    assert errors[wrong[0]] == "HttpError"
    assert errors[wrong[1]] == "DownloadConnectionRefusedError"
    assert set(errors) == set(wrong)
    assert len(done.stored()) == 3
    assert all(done.explain(url).fetches[-1].ending is Ending.FAILED for url in wrong)


def test_items_of_errbacks_survive_the_next_run_of_the_job(
    site: SiteServer, tmp_path: Path
) -> None:
    for port in (1, 2):
        settings = {"RETRY_ENABLED": False}
        done = crawl(tmp_path, Catcher, settings, urls=[f"http://127.0.0.1:{port}/"])
    assert [item["url"] for item in done.stored()] == ["http://127.0.0.1:1/", "http://127.0.0.1:2/"]


class Clumsy(Walker):
    name = "clumsy"

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield {"url": response.url}
        if response.url.endswith("/p/2.html"):
            raise RuntimeError("clumsy me")
        assert isinstance(response, TextResponse)
        yield from response.follow_all(css="a")


def test_an_exception_in_a_callback_is_recorded_and_costs_one_page(
    site: SiteServer, tmp_path: Path
) -> None:
    done = crawl(tmp_path, Clumsy, start_urls=[site.url])
    assert done.reason == "finished"
    assert set(urls(done.stored())) >= {"/", *(f"/p/{n}.html" for n in range(1, 7))}
    assert done.stats["spider_exceptions/RuntimeError"] == 1
    [fetch] = done.explain(f"{site.url}p/2.html").fetches
    assert (fetch.ending, fetch.status) == (Ending.FAILED, 200)
    assert "RuntimeError: clumsy me" in fetch.note


# Filtering


class Repeater(Fetcher):
    name = "repeater"

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.urls[0])

    def parse(self, response: Response, **kwargs: Any) -> Any:
        for url in self.urls:
            yield Request(url, self.parse_filtered)
            yield Request(f"{url}#again", self.parse_filtered)
            yield Request(url, self.parse_unfiltered, dont_filter=True)

    def parse_filtered(self, response: Response) -> Any:
        yield {"url": response.url, "by": "filtered"}

    def parse_unfiltered(self, response: Response) -> Any:
        yield {"url": response.url, "by": "unfiltered"}


def test_duplicates_are_fetched_once_and_unfiltered_requests_always(
    site: SiteServer, tmp_path: Path
) -> None:
    done = crawl(tmp_path, Repeater, urls=[f"{site.url}p/1.html", f"{site.url}p/2.html"])
    assert times(site.hits()) == {"/p/1.html": 2, "/p/2.html": 2}
    assert sorted((item["url"][-6], item["by"]) for item in done.stored()) == [
        ("1", "unfiltered"),
        ("2", "filtered"),
        ("2", "unfiltered"),
    ]


class UnfilteredFirst(Fetcher):
    name = "unfiltered_first"

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.urls[0])

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield Request(self.urls[1], self.parse_first, dont_filter=True)

    def parse_first(self, response: Response) -> Any:
        yield Request(response.url, self.parse_second)

    def parse_second(self, response: Response) -> Any:
        yield {"url": response.url}


def test_an_unfiltered_request_does_not_make_its_url_known(
    site: SiteServer, tmp_path: Path
) -> None:
    done = crawl(tmp_path, UnfilteredFirst, urls=[site.url, f"{site.url}p/1.html"])
    assert paths(site.hits()) == ["/", "/p/1.html", "/p/1.html"]
    assert urls(done.stored()) == ["/p/1.html"]


class Poller(Fetcher):
    name = "poller"

    def parse(self, response: Response, **kwargs: Any) -> Any:
        polls = response.meta.get("polls", 0)
        yield {"url": response.url, "polls": polls}
        if polls < 3:
            assert response.request
            yield response.request.replace(dont_filter=True, meta={"polls": polls + 1})


def test_a_page_that_is_polled_gives_an_item_each_time(site: SiteServer, tmp_path: Path) -> None:
    done = crawl(tmp_path, Poller, urls=[f"{site.url}p/1.html"])
    assert times(site.hits()) == {"/p/1.html": 4}
    assert sorted(item["polls"] for item in done.stored()) == [0, 1, 2, 3]


class AskAgain:
    """A downloader middleware of the project that sends a request once more, as proxies do."""

    def process_response(self, request: Request, response: Response) -> Request | Response:
        if "asked" in request.meta:
            return response
        request.meta["asked"] = True
        request.dont_filter = True
        return request


def test_a_middleware_can_send_the_same_request_again(site: SiteServer, tmp_path: Path) -> None:
    settings = {"DOWNLOADER_MIDDLEWARES": {"test_semantics.AskAgain": 500}}
    done = crawl(tmp_path, Fetcher, settings, urls=[f"{site.url}p/1.html"])
    assert times(site.hits()) == {"/p/1.html": 2}
    assert urls(done.stored()) == ["/p/1.html"]
    history = done.explain(f"{site.url}p/1.html").fetches
    assert [fetch.ending for fetch in history] == [Ending.REPLACED, Ending.DONE]


class ByQuery:
    """A fingerprinter of the project: only the query counts."""

    def fingerprint(self, request: Request) -> bytes:
        return request.url.partition("?")[2].encode()


def test_the_fingerprinter_of_the_project_is_used(site: SiteServer, tmp_path: Path) -> None:
    settings = {"REQUEST_FINGERPRINTER_CLASS": "test_semantics.ByQuery", "CONCURRENT_REQUESTS": 1}
    wanted = [f"{site.url}{path}" for path in ("p/1.html?a", "p/2.html?a", "p/2.html?b")]
    crawl(tmp_path, Fetcher, settings, urls=wanted)
    assert paths(site.hits()) == ["/p/1.html?a", "/p/2.html?b"]


def test_depth_limit_is_kept_and_explained(tmp_path: Path) -> None:
    with SiteServer(Site(pages=13, links=3)) as site:
        done = crawl(tmp_path, Walker, {"DEPTH_LIMIT": 1}, start_urls=[site.url])
        assert set(paths(site.hits())) == {"/", "/p/1.html", "/p/2.html", "/p/3.html"}
        assert done.explain(f"{site.url}p/5.html").dropped_by == "deeper than DEPTH_LIMIT 1"


# Order


class Ranked(Fetcher):
    name = "ranked"

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.urls[0])

    def parse(self, response: Response, **kwargs: Any) -> Any:
        for priority, url in enumerate(self.urls):
            yield Request(url, self.parse_page, priority=priority - 3, dont_filter=True)

    def parse_page(self, response: Response) -> None: ...


def test_high_priorities_are_fetched_first(site: SiteServer, tmp_path: Path) -> None:
    wanted = [f"{site.url}{path[1:]}" for path in ALL_PATHS]
    crawl(tmp_path, Ranked, {"CONCURRENT_REQUESTS": 1}, urls=wanted)
    assert paths(site.hits()) == ["/", *reversed(ALL_PATHS)]


# What cannot be stored


class Unstorable(Fetcher):
    name = "unstorable"

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield Request(self.urls[0] + "p/1.html", lambda _: None)  # type: ignore[misc]
        with Path(__file__).open() as file:
            yield Request(self.urls[0] + "p/2.html", self.parse_page, meta={"deep": [{"f": file}]})
        loop: dict[str, Any] = {}
        loop["self"] = loop
        yield Request(self.urls[0] + "p/3.html", self.parse_page, cb_kwargs=loop)
        yield Request(self.urls[0] + "p/5.html", self.parse_page, meta={"bad": "\ud800"})
        yield Request(self.urls[0] + "p/6.html", self.parse_page)

    def parse_page(self, response: Response) -> Any:
        yield {"url": response.url}


def test_requests_that_cannot_be_stored_are_kept_in_memory(
    site: SiteServer, tmp_path: Path
) -> None:
    done = crawl(tmp_path, Unstorable, urls=[site.url])
    assert done.reason == "finished"
    assert urls(done.items) == ["/p/2.html", "/p/5.html", "/p/6.html"]
    assert len(site.hits()) == 6
    assert f"cannot store <GET {site.url}p/1.html>: callback is <function" in done.log
    assert done.log.count("cannot store") == 1
    assert done.stats["scheduler/unserializable"] == 4
    assert "only methods of the spider" in done.explain(f"{site.url}p/1.html").dropped_by


class Marking:
    """A downloader middleware that notes something in a request which cannot be stored."""

    def process_request(self, request: Request) -> None:
        request.meta["mark"] = object()


def test_a_retry_that_cannot_be_stored_is_kept_in_memory(site: SiteServer, tmp_path: Path) -> None:
    settings = {"DOWNLOADER_MIDDLEWARES": {"test_semantics.Marking": 500}}
    url = f"{site.url}status/500"
    done = crawl(tmp_path, Fetcher, settings, urls=[url])
    assert len(site.hits()) == 3
    [fetch] = done.explain(url).fetches
    assert (fetch.ending, fetch.status) == (Ending.FAILED, 500)
    assert done.stats["frontier/failed"] == 1
    assert done.stats["retry/count"] == 2


# Signals, pipelines, caches


class Restless(Fetcher):
    name = "restless"

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> "Restless":
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.idle, signals.spider_idle)
        return spider

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.urls.pop())

    def idle(self) -> None:
        if self.urls:
            assert self.crawler.engine
            self.crawler.engine.crawl(Request(self.urls.pop(), self.parse))
            raise DontCloseSpider


def test_an_idle_handler_can_add_requests(site: SiteServer, tmp_path: Path) -> None:
    wanted = [f"{site.url}p/{n}.html" for n in (1, 2, 3)]
    done = crawl(tmp_path, Restless, urls=wanted)
    assert paths(site.hits()) == ["/p/3.html", "/p/2.html", "/p/1.html"]
    assert done.reason == "finished"
    assert len(done.stored()) == 3


class OtherFetcher(Fetcher):
    name = "other_fetcher"


def test_two_spiders_run_in_one_process(site: SiteServer, tmp_path: Path) -> None:
    wanted = [f"{site.url}p/{n}.html" for n in (1, 2)]
    both = crawl_all(tmp_path, Fetcher, OtherFetcher, urls=wanted)
    assert [done.reason for done in both] == ["finished"] * 2
    assert [urls(done.stored()) for done in both] == [["/p/1.html", "/p/2.html"]] * 2
    assert times(site.hits()) == {"/p/1.html": 2, "/p/2.html": 2}


def test_the_http_cache_works(site: SiteServer, tmp_path: Path) -> None:
    settings = {"HTTPCACHE_ENABLED": True, "DOWNLOAD_DELAY": 0.01}
    first = crawl(tmp_path, Walker, settings, start_urls=[site.url])
    seen = len(site.hits())
    second = crawl(tmp_path, Walker, settings, start_urls=[site.url])
    assert len(site.hits()) == seen
    assert second.stats["httpcache/hit"] == seen
    assert urls(second.items) == urls(first.items)


def test_items_are_told_apart_by_the_fields_of_weft_item_key(
    site: SiteServer, tmp_path: Path
) -> None:
    wanted = [f"{site.url}p/1.html", f"{site.url}p/2.html", f"{site.url}missing/1"]
    settings = {"WEFT_ITEM_KEY": ["status"], "HTTPERROR_ALLOW_ALL": True}
    done = crawl(tmp_path, Fetcher, settings, urls=wanted)
    assert len(done.items) == 3
    assert sorted(item["status"] for item in done.stored()) == [200, 404]


def test_requests_tell_where_they_were_found(site: SiteServer, tmp_path: Path) -> None:
    done = crawl(tmp_path, Walker, start_urls=[site.url])
    assert done.explain(f"{site.url}p/1.html").found_on_url == site.url


class KindSpider(Spider):
    name = "kinds"

    def __init__(self, url: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.url = url

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.url, meta={"weft_kind": "nav"})
        yield Request(self.url + "p/1.html", meta={"weft_kind": "list"})

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield {"url": response.url}


def test_a_page_kind_is_kept_and_an_unknown_one_is_told(site: SiteServer, tmp_path: Path) -> None:
    done = crawl(tmp_path, KindSpider, url=site.url)
    assert [item["url"] for item in done.items] == [site.url]
    assert done.explain(site.url).kind is PageKind.NAV
    assert "meta['weft_kind'] is 'list'; write 'nav' or 'data'" in done.log
    assert "weft_kind" in done.explain(site.url + "p/1.html").dropped_by
