"""Captures what the network answered for the archives: each answer as it came, to any request.

Answers are captured where they leave the download handler, before any middleware unpacks, replaces
or repeats them. So redirects, errors, robots.txt and the files of media pipelines are included, and
answers from a cache are not.
"""

from collections.abc import Callable, Mapping

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import Headers, Response

from weft.clock import Clock
from weft.sinks.archive import Headers as Pairs
from weft.sinks.archive import RawPage

#: Why a response is incomplete, in WARC terms, by Scrapy's flag for it.
_TRUNCATED: Mapping[str, str] = {"dataloss": "disconnect", "download_stopped": "unspecified"}


class Capture:
    def __init__(self, crawler: Crawler, put: Callable[[RawPage], None], clock: Clock) -> None:
        self._put = put
        self._clock = clock
        crawler.signals.connect(self._note, signals.response_downloaded)

    def _note(self, response: Response, request: Request) -> None:
        if response.url.startswith(("http://", "https://")):
            self._put(to_page(request, response, self._clock.now_ms()))


def to_page(request: Request, response: Response, fetched_at_ms: int) -> RawPage:
    return RawPage(
        url=response.url,
        status=response.status,
        headers=_pairs(response.headers),
        body=response.body,
        fetched_at_ms=fetched_at_ms,
        protocol=response.protocol or "HTTP/1.1",
        ip=str(response.ip_address or ""),
        truncated=next((_TRUNCATED[flag] for flag in response.flags if flag in _TRUNCATED), ""),
        method=request.method,
        request_headers=_pairs(request.headers),
        request_body=request.body,
    )


def _pairs(headers: Headers) -> Pairs:
    # Not with Headers.items(), which looks up each of them again.
    return tuple((name, value) for name, values in dict.items(headers) for value in values)
