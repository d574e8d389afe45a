"""The fingerprint of a Scrapy request.

A project that sets REQUEST_FINGERPRINTER_CLASS, or a DUPEFILTER_CLASS with fingerprints of its own,
decides for itself which requests are the same; its result is only shortened. Otherwise method,
canonical URL, body and chosen headers count.
"""

from collections.abc import Callable, Sequence
from hashlib import blake2b

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.settings import SETTINGS_PRIORITIES

from weft.engine.requests.dupefilter import NAME as DUPEFILTER
from weft.engine.requests.dupefilter import filters_nothing, find_dupefilter, fingerprints_of
from weft.engine.requests.positions import Position
from weft.errors import FingerprintError
from weft.urls import fingerprint

_START = int.from_bytes(blake2b(b"weft start", digest_size=8).digest(), "big") >> 1


def start_fingerprint(number: int, place: int = 0) -> int:
    """The identity of an unfiltered request of `start()`; `place`: how many for the same page came
    before it from there.

    It does not make its URL known, so links to it count as new, as in Scrapy. But it is added only
    once in a job, although each worker, and each run that resumes the job, runs `start()` from its
    beginning. Requests for other pages do not count: lists that grow, and sets, whose order is
    different in each process, bring nothing twice.
    """
    return unfiltered_fingerprint(number, Position(0, place)) if place else number ^ _START


def unfiltered_fingerprint(number: int, position: Position) -> int:
    """The identity of a request that the spider does not want filtered: where it was found counts.

    So it is fetched no matter how often its URL has been fetched, and does not make its URL known.
    But it is not fetched again if the page where it was found has to be worked on twice.
    """
    raw = f"{number} {position.page} {position.number}".encode()
    digest = blake2b(raw, digest_size=8, person=b"weft place").digest()
    return int.from_bytes(digest, "big") >> 1


def short_fingerprint(digest: bytes) -> int:
    """The result of a project's own fingerprinter, as a frontier keeps it."""
    return int.from_bytes(blake2b(digest, digest_size=8).digest(), "big") >> 1


class Fingerprinter:
    def __init__(self, crawler: Crawler, headers: Sequence[str]) -> None:
        self._headers = sorted(header.lower() for header in headers)
        #: False: no request is the same as another.
        self.is_filtering = True
        # The project's own; None: our rules alone decide.
        self._own: Callable[[Request], bytes] | None = None
        self._name = "REQUEST_FINGERPRINTER_CLASS"
        if (crawler.settings.getpriority(self._name) or 0) > SETTINGS_PRIORITIES["default"]:
            self._own = crawler.request_fingerprinter.fingerprint
        if (found := find_dupefilter(crawler.settings)) is not None:
            self._use(found, crawler)
        self.is_default = self._own is None
        #: Plain GETs are identified by their URLs.
        self.is_by_url = self.is_default and not self._headers

    def _use(self, filter_class: type, crawler: Crawler) -> None:
        if filters_nothing(filter_class):
            self.is_filtering = False
            return
        own = fingerprints_of(filter_class, crawler)
        if own is not None:
            self._own, self._name = own, DUPEFILTER

    def __call__(self, request: Request) -> int:
        """Raises FingerprintError if the project's fingerprinter fails."""
        if self._own is None:
            return fingerprint(
                request.url,
                request.method,
                request.body,
                self._extra(request),
                is_canonical=bool(request.meta.get("verbatim_url")),
            )
        try:
            return short_fingerprint(self._own(request))
        except Exception as problem:
            raise FingerprintError(repr(request), self._name, problem) from problem

    def _extra(self, request: Request) -> bytes:
        return b"\n".join(
            name.encode() + b":" + value
            for name in self._headers
            for value in request.headers.getlist(name)
        )
