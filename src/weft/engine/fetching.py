"""Fetches single pages, outside of any job: by Scrapy, in the event loop that is running."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import msgspec
from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from twisted.python.failure import Failure
from w3lib.encoding import http_content_type_encoding

from weft.engine.scrapy.addon import HANDLER
from weft.engine.target import DEFAULTS, SITE_SETTINGS
from weft.markup import DEFAULT_LIMITS

#: One request at a time to each host, as polite as a crawl.
SETTINGS: dict[str, Any] = {
    **DEFAULTS,
    "TWISTED_REACTOR_ENABLED": False,
    "DOWNLOAD_HANDLERS": {"http": HANDLER, "https": HANDLER},
    "REMOTE_CONTROL_ENABLED": False,
    "USER_AGENT": SITE_SETTINGS["USER_AGENT"],
    "ROBOTSTXT_OBEY": True,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "HTTPERROR_ALLOW_ALL": True,
    "DOWNLOAD_MAXSIZE": DEFAULT_LIMITS.max_bytes,
    "DOWNLOAD_TIMEOUT": 30,
    "RETRY_TIMES": 1,
    "RETRY_GIVE_UP_LOG_LEVEL": "DEBUG",
    "LOG_LEVEL": "ERROR",
}


class FetchedPage(msgspec.Struct, frozen=True):
    """What came of a URL: a page, or a problem."""

    #: As it was asked for.
    asked: str
    #: Where redirects ended.
    url: str = ""
    body: bytes = b""
    #: What the Content-Type header says; None if it says nothing.
    charset: str | None = None
    #: Why there is no page; empty if there is one.
    problem: str = ""


async def fetch_pages(urls: Sequence[str], on_page: Callable[[FetchedPage], None]) -> None:
    """Fetch each URL once, and call `on_page` for each as it comes.

    robots.txt is obeyed. At most one request at a time goes to each host.
    """
    await AsyncCrawlerRunner(SETTINGS).crawl(_Fetcher, urls=urls, on_page=on_page)


class _Fetcher(Spider):
    name = "fetcher"

    def __init__(self, urls: Sequence[str], on_page: Callable[[FetchedPage], None]) -> None:
        super().__init__()
        self._urls = urls
        self._on_page = on_page

    async def start(self) -> AsyncIterator[Request]:
        for url in self._urls:
            try:
                yield Request(
                    url,
                    dont_filter=True,
                    errback=self._failed,
                    cb_kwargs={"asked": url},
                )
            except ValueError as problem:
                self._on_page(FetchedPage(url, problem=f"it is no URL: {problem}"))

    def parse(self, response: Response, asked: str) -> None:
        if response.status >= 400:
            self._on_page(FetchedPage(asked, problem=f"the server answered {response.status}"))
            return
        declared = http_content_type_encoding(
            (response.headers.get("Content-Type") or b"").decode("latin-1")
        )
        self._on_page(FetchedPage(asked, response.url, response.body, declared))

    def _failed(self, failure: Failure) -> None:
        asked = failure.request.cb_kwargs["asked"]  # type: ignore[attr-defined]
        self._on_page(FetchedPage(asked, problem=_why(failure.value)))


def _why(error: BaseException | None) -> str:
    if isinstance(error, IgnoreRequest):
        return (
            "robots.txt forbids it; if you may read it all the same, pipe it: "
            "curl URL | weft extract - --url URL"
        )
    return f"it cannot be fetched: {error}"
