"""A spider that sends the given requests, and notes what becomes of each, good or bad."""

from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import StopDownload
from scrapy.http import Headers, Response
from scrapy.resolver import CachingHostnameResolver
from twisted.internet.interfaces import IHostResolution, IResolutionReceiver
from twisted.python.failure import Failure

#: Nothing between the handler and the spider changes anything.
PLAIN = {
    "ADDONS": {},
    "RETRY_ENABLED": False,
    "REDIRECT_ENABLED": False,
    "COMPRESSION_ENABLED": False,
    "HTTPERROR_ALLOW_ALL": True,
    "CONCURRENT_REQUESTS": 1,
    "DOWNLOAD_DELAY": 0,
}
SCRAPYS = "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler"
OURS = "weft.engine.http.handler.HttpHandler"


def with_handler(path: str, **settings: Any) -> dict[str, Any]:
    return PLAIN | {"DOWNLOAD_HANDLERS": {"http": path, "https": path}} | settings


class Asker(Spider):
    """`asks` are arguments of requests by name; `stops` says which ones a signal handler stops."""

    name = "asker"

    def __init__(self, asks: dict[str, Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.asks = asks
        self.heard: dict[str, list[Any]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> "Asker":
        spider = super().from_crawler(crawler, *args, **kwargs)
        if any("stop" in ask.get("meta", {}) for ask in spider.asks.values()):
            crawler.signals.connect(spider.note_headers, signals.headers_received)
            crawler.signals.connect(spider.note_bytes, signals.bytes_received)
        return spider

    async def start(self) -> AsyncIterator[Any]:
        for name, ask in self.asks.items():
            yield Request(
                dont_filter=True,
                errback=self.note_failure,
                cb_kwargs={"name": name},
                **ask,
            )

    def note_headers(self, headers: Headers, body_length: Any, request: Request) -> None:
        self.heard[request.cb_kwargs["name"]] = [_shown(headers), str(body_length)]
        self._stop_at("headers", request)

    def note_bytes(self, data: bytes, request: Request) -> None:
        self._stop_at("bytes", request)

    def _stop_at(self, moment: str, request: Request) -> None:
        if request.meta.get("stop") == moment:
            raise StopDownload(fail=request.meta.get("stop_fails", False))

    def parse(self, response: Response, **kwargs: Any) -> Any:
        has_latency = 0 < response.meta["download_latency"] < 60
        yield self._told(kwargs["name"], response) | {"has_latency": has_latency}

    def note_failure(self, failure: Failure) -> Any:
        name = failure.request.cb_kwargs["name"]  # type: ignore[attr-defined]
        error = failure.value
        response = error.response if isinstance(error, StopDownload) else None
        told = self._told(name, response) if response else {"name": name}
        yield told | {"error": type(error).__name__}

    def _told(self, name: str, response: Response) -> dict[str, Any]:
        return {
            "name": name,
            "status": response.status,
            "url": response.url,
            "class": type(response).__name__,
            "headers": _shown(response.headers),
            "body": response.body.decode("latin-1"),
            "flags": response.flags,
            "protocol": response.protocol,
            "certificate": repr(response.certificate),
            "ip_address": str(response.ip_address),
            "heard": self.heard.get(name),
        }


def _shown(headers: Headers) -> list[Any]:
    """In their order as well."""
    return [
        [name.decode("latin-1"), [value.decode("latin-1") for value in values]]
        for name, values in headers.items()
    ]


class LoopbackResolver(CachingHostnameResolver):
    """Knows one address, whatever the name."""

    def resolveHostName(
        self, resolutionReceiver: IResolutionReceiver, hostName: str, *args: Any, **kwargs: Any
    ) -> IHostResolution:
        return super().resolveHostName(resolutionReceiver, "::1", *args, **kwargs)
