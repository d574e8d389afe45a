"""Before a page of a board is sent for: is it still wanted, and how is it asked for."""

from typing import Protocol, Self, cast

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest

from weft.boards.unchanged import conditional_headers
from weft.engine.boards.context import PageContext


class NotWantedError(IgnoreRequest):
    """The page is not fetched now, but when it is due again."""


class BoardGoneError(Exception):
    """The board of a page was removed. Its page counts as failed, so that it is taken again when
    another board finds it."""


class ChecksRequests(Protocol):
    def check(self, request: Request) -> None: ...


class BoardMiddleware:
    """Of our spider of boards."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        if "context" not in request.cb_kwargs:
            return  # robots.txt
        cast(ChecksRequests, self._crawler.spider).check(request)
        context = PageContext.of(request)
        if context.browser:
            request.meta["weft_browser"] = True
        if context.state is not None:
            request.headers.update(conditional_headers(context.state))
