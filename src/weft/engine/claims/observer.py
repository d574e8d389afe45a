"""Observes what happens to the requests in Scrapy's hands, and notes it in their fates."""

from datetime import UTC, datetime

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from twisted.python.failure import Failure

from weft.clock import Clock
from weft.engine.claims.fates import Fates
from weft.engine.claims.outcome import retry_after_ms


class Observer:
    """Ignores requests that never were claims."""

    def __init__(self, crawler: Crawler, fates: Fates, clock: Clock) -> None:
        self._get = fates.get
        self._replaced = fates.replaced
        self._clock = clock
        crawler.signals.connect(self._note_spider_error, signals.spider_error)

    # In the order in which it happens

    def note_fetched(self, request: Request, response: Response) -> int:
        """The network or the cache answered. Returns how long it asks us to wait, in ms."""
        now_ms = self._clock.now_ms()
        now = datetime.fromtimestamp(now_ms / 1000, UTC)
        asked_ms = retry_after_ms(response.headers.get("Retry-After"), now)
        if fate := self._get(request):
            fate.status = response.status
            fate.fetched_at_ms = now_ms
            fate.retry_after_ms = asked_ms
        return asked_ms

    def note_result(self, request: Request, result: Response | Request) -> None:
        """What the downloader returns. A request means that a middleware replaced this one."""
        if fate := self._get(request):
            if isinstance(result, Request):
                self._replaced[result] = request
            else:
                fate.is_answered = True

    def note_error(self, request: Request, error: Exception) -> None:
        """The downloader gave up."""
        if fate := self._get(request):
            fate.error = error

    def note_refused(self, response: Response, reason: str) -> None:
        """The response is not parsed."""
        if response.request and (fate := self._get(response.request)):
            fate.refusal = reason

    def note_item(self, source: Response | Failure | None) -> tuple[str, int]:
        """Count an item for the sinks. Returns the URL of its page and when that was fetched."""
        request = getattr(source, "request", None)
        fate = self._get(request) if isinstance(request, Request) else None
        if fate:
            fate.items += 1
        if isinstance(source, Response):
            return source.url, fate.fetched_at_ms if fate else 0
        return (request.url, 0) if isinstance(request, Request) else ("", 0)

    def _note_spider_error(self, failure: Failure, response: Response | None) -> None:
        request = response.request if isinstance(response, Response) else None
        if request is not None and (fate := self._get(request)):
            error = failure.value
            fate.spider_error = f"the spider raised {type(error).__name__}: {error}"
