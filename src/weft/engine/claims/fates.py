"""The requests in Scrapy's hands, each with what is known about it so far."""

from collections.abc import Callable
from weakref import WeakKeyDictionary

from scrapy import Request

from weft.engine.claims.outcome import Fate
from weft.engine.scrapy.inprogress import InProgress


class Fates:
    def __init__(self, in_progress: InProgress, downloaded: Callable[[str], None]) -> None:
        """`downloaded` is called with the host of each request that is no longer under way."""
        self._in_progress = in_progress
        self._downloaded = downloaded
        self._fates: dict[Request, Fate] = {}
        #: What is known about a request; None if it never was a claim.
        self.get: Callable[[Request], Fate | None] = self._fates.get
        #: The original of each retry and redirect that a middleware made.
        self.replaced: WeakKeyDictionary[Request, Request] = WeakKeyDictionary()

    def begin(self, request: Request, fate: Fate) -> None:
        """Scrapy gets this request."""
        self._fates[request] = fate

    def of_page(self, fingerprint: int) -> Fate | None:
        """What is known about the request for a page."""
        return next(
            (f for f in self._fates.values() if f.claim.request.fingerprint == fingerprint), None
        )

    def leave_downloader(self, request: Request) -> None:
        """The request is no longer under way."""
        if fate := self._fates.get(request):
            self._note_downloaded(fate)

    def take_ended(self) -> list[Fate]:
        """The fates of all requests that Scrapy has let go of."""
        ended = [self._fates.pop(request) for request in self._in_progress.let_go(self._fates)]
        for fate in ended:
            self._note_downloaded(fate)
        return ended

    def _note_downloaded(self, fate: Fate) -> None:
        if not fate.is_downloaded:
            fate.is_downloaded = True
            self._downloaded(fate.claim.request.host)
