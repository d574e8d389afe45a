"""The requests in Scrapy's hands, each with what is known about it so far."""

from datetime import UTC, datetime
from weakref import WeakKeyDictionary

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from twisted.python.failure import Failure

from weft.clock import Clock
from weft.engine.buffer import Buffer
from weft.engine.held import HeldRequests
from weft.engine.outcome import Fate, retry_after_ms
from weft.records import Claim


class Fates:
    def __init__(self, crawler: Crawler, held: HeldRequests, buffer: Buffer, clock: Clock) -> None:
        self._held = held
        self._buffer = buffer
        self._clock = clock
        self._fates: dict[Request, Fate] = {}
        #: What retries and redirects, which middlewares make, were made of.
        self.replaced: WeakKeyDictionary[Request, Request] = WeakKeyDictionary()
        crawler.signals.connect(self._note_spider_error, signals.spider_error)

    def begin(self, request: Request, claim: Claim) -> None:
        """Scrapy gets this request."""
        self._fates[request] = Fate(claim)

    def get(self, request: Request) -> Fate | None:
        """What is known about a request; None: it never was a claim."""
        return self._fates.get(request)

    def of_page(self, fingerprint: int) -> Fate | None:
        """What is known about the request for a page."""
        return next(
            (f for f in self._fates.values() if f.claim.request.fingerprint == fingerprint), None
        )

    def note_item(self, source: Response | Failure | None) -> tuple[str, int]:
        """An item goes to the sinks: the URL of the page that it is from, and when that was
        fetched."""
        request = getattr(source, "request", None)
        fate = self._fates.get(request) if isinstance(request, Request) else None
        if fate:
            fate.items += 1
        if isinstance(source, Response):
            return source.url, fate.fetched_at_ms if fate else 0
        return (request.url, 0) if isinstance(request, Request) else ("", 0)

    def take_ended(self) -> list[Fate]:
        """The fates of all requests that Scrapy has let go of."""
        ended = [self._fates.pop(request) for request in self._held.let_go(self._fates)]
        for fate in ended:
            self._note_downloaded(fate)
        return ended

    # What happens to a request, in this order

    def note_fetched(self, request: Request, response: Response) -> None:
        """The network, or the cache, answered."""
        if fate := self._fates.get(request):
            fate.status = response.status
            fate.fetched_at_ms = self._clock.now_ms()
            fate.retry_after_ms = self.retry_after_ms(response)

    def retry_after_ms(self, response: Response) -> int:
        now = datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC)
        return retry_after_ms(response.headers.get("Retry-After"), now)

    def note_left_downloader(self, request: Request) -> None:
        """It is no longer under way."""
        if fate := self._fates.get(request):
            self._note_downloaded(fate)

    def _note_downloaded(self, fate: Fate) -> None:
        if not fate.is_downloaded:
            fate.is_downloaded = True
            self._buffer.downloaded(fate.claim.request.host)

    def note_result(self, request: Request, result: Response | Request) -> None:
        """What the downloader hands over; a request: a middleware replaced this one by it."""
        if fate := self._fates.get(request):
            if isinstance(result, Request):
                self.replaced[result] = request
            else:
                fate.is_answered = True

    def note_refused(self, response: Response, reason: str) -> None:
        """It is not parsed."""
        if response.request and (fate := self._fates.get(response.request)):
            fate.refusal = reason

    def note_error(self, request: Request, error: Exception) -> None:
        """The downloader gave up."""
        if fate := self._fates.get(request):
            fate.error = error

    def _note_spider_error(self, failure: Failure, response: Response | None) -> None:
        request = response.request if isinstance(response, Response) else None
        if request is not None and (fate := self._fates.get(request)):
            error = failure.value
            fate.spider_error = f"the spider raised {type(error).__name__}: {error}"
