"""`DOWNLOAD_HANDLERS = {"http": "weft.engine.http.handler.HttpHandler", "https": …}`."""

import asyncio
import logging
from collections.abc import Callable
from functools import cached_property

from scrapy import Request
from scrapy.core.downloader.handlers import DownloadHandlerProtocol
from scrapy.core.downloader.handlers._base_http import BaseHttpDownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import (
    DownloadFailedError,
    DownloadTimeoutError,
    NotConfigured,
    NotSupported,
    ResponseDataLossError,
    UnsupportedURLSchemeError,
)
from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy.settings import default_settings as scrapy_defaults
from scrapy.utils.asyncio import is_asyncio_available
from scrapy.utils.deprecate import warn_on_deprecated_spider_attribute
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.reactor import is_reactor_installed

from weft.engine.http.answerlimits import AnswerLimits
from weft.engine.http.connection import CUT_OFF, Connection
from weft.engine.http.connector import Connector
from weft.engine.http.deadlines import Deadlines
from weft.engine.http.dispatch import Dispatch, Route
from weft.engine.http.exchange import Exchange
from weft.engine.http.origin import origin_of
from weft.engine.http.pool import Pool
from weft.engine.http.resolver import HostResolver
from weft.engine.http.response import make_response
from weft.engine.http.wire import request_bytes
from weft.engine.politeness import stops
from weft.engine.scrapy.compat import log_ssl_object, make_ssl_context
from weft.engine.scrapy.scheduler import find_crawl

logger = logging.getLogger(__name__)

#: Used if DOWNLOAD_TIMEOUT is 0, as in Scrapy.
DEFAULT_TIMEOUT_S = 10.0

# Methods that may be sent twice if it is unknown whether the request arrived.
_REPEATABLE = frozenset(("GET", "HEAD", "OPTIONS", "DELETE", "TRACE"))

# Settings that only Scrapy's own handler supports: if one is changed, all requests go there, or all
# https requests.
_RESOLVERS = ("TWISTED_DNS_RESOLVER", "DNS_RESOLVER")
_USUAL_RESOLVERS = ("twisted.internet._resolver", "scrapy.resolver")
_TLS_PARTS = ("DOWNLOADER_CLIENTCONTEXTFACTORY", "DOWNLOADER_CLIENT_TLS_METHOD")

_TLS_VERSIONS = ("DOWNLOAD_TLS_MIN_VERSION", "DOWNLOAD_TLS_MAX_VERSION")


class HttpHandler(BaseHttpDownloadHandler):
    """Downloads plain HTTP/1.1, and leaves the rest to Scrapy's own handler."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        self._timeout_s = settings.getfloat("DOWNLOAD_TIMEOUT") or DEFAULT_TIMEOUT_S
        self._local = _bind_address(settings.get("DOWNLOAD_BIND_ADDRESS"))
        self._schemes = _own_schemes(settings)
        self._deadlines = Deadlines()
        self._pool = Pool()
        self._resolver = HostResolver(
            cache_size=settings.getint("DNSCACHE_SIZE") * settings.getbool("DNSCACHE_ENABLED"),
            timeout_s=settings.getfloat("DNS_TIMEOUT"),
            threads=settings.getint("REACTOR_THREADPOOL_MAXSIZE"),
        )
        self._connector = Connector(self._resolver, self._pool, lambda: make_ssl_context(settings))
        if any(settings[name] for name in _TLS_VERSIONS):
            make_ssl_context(settings)  # refuses versions that there are not, before any request
        self._fallback: DownloadHandlerProtocol | None = None
        self._is_closed = False

    async def download_request(self, request: Request) -> Response:
        dispatch = self._dispatch(request)
        if dispatch is None:
            return await self._scrapy_handler(request).download_request(request)
        if stops.is_cutting():
            raise DownloadFailedError(CUT_OFF)
        try:
            return await self._download(dispatch)
        except TimeoutError as error:
            url = request.url.partition("#")[0]
            problem = f"Getting {url} took longer than {dispatch.timeout_s} seconds."
            raise DownloadTimeoutError(problem) from error
        except ResponseDataLossError:
            if not self._fail_on_dataloss_warned:
                # Here, for it loads Twisted's HTTP client, which we replace.
                from scrapy.utils._download_handlers import get_dataloss_msg

                logger.warning(get_dataloss_msg(request.url))
                self._fail_on_dataloss_warned = True
            raise

    async def close(self) -> None:
        self._is_closed = True
        self._deadlines.close()
        self._resolver.close()
        await self._pool.close()
        if self._fallback is not None:
            await self._fallback.close()

    # What we do, and what Scrapy's handler does

    def _dispatch(self, request: Request) -> Dispatch | None:
        """Returns None if the request is for Scrapy's own handler."""
        meta = request.meta
        parts = urlparse_cached(request)
        origin = origin_of(parts.scheme, parts.netloc) if parts.scheme in self._schemes else None
        data = request_bytes(request, origin) if origin and not meta.get("proxy") else None
        if origin is None or data is None:
            return None
        bind_address = meta.get("bindaddress")
        local = _bind_address(bind_address) if bind_address else self._local
        timeout_s = meta.get("download_timeout") or self._timeout_s
        return Dispatch(
            request=request,
            route=Route(origin, local),
            data=data,
            timeout_s=timeout_s,
            until_s=asyncio.get_running_loop().time() + timeout_s,
            cuts=stops.cut_count(),
        )

    def _scrapy_handler(self, request: Request) -> DownloadHandlerProtocol:
        scheme = urlparse_cached(request).scheme
        if scheme not in ("http", "https"):
            raise UnsupportedURLSchemeError(f"{request} is not an HTTP request")
        if self._fallback is None:
            path = self.crawler.settings.getdict("DOWNLOAD_HANDLERS_BASE")[scheme]
            try:
                self._fallback = build_from_crawler(load_object(path), self.crawler)
            except (ImportError, NotConfigured) as error:
                raise NotSupported(
                    f"{request} needs Scrapy's own handler (for its proxy, its headers or its "
                    f"URL), which cannot be used here: {error}"
                ) from error
        return self._fallback

    # Sending

    async def _download(self, dispatch: Dispatch) -> Response:
        connection = None if _is_retry(dispatch.request) else self._pool.take(dispatch.route)
        if connection is None:
            return await self._ask_anew(dispatch)
        exchange = self._exchange(dispatch)
        try:
            return await self._ask(connection, exchange, dispatch)
        except DownloadFailedError:
            # The server may have closed it before the request arrived.
            if self._is_closed or exchange.has_begun or not _may_repeat(dispatch):
                raise
        response = None
        try:
            response = await self._ask_anew(dispatch)
            return response
        finally:
            if response is None or response.status >= 400:
                _count_attempt(dispatch.request)

    async def _ask_anew(self, dispatch: Dispatch) -> Response:
        connection = await self._connector.connect(dispatch.route, dispatch.until_s)
        return await self._ask(connection, self._exchange(dispatch), dispatch)

    async def _ask(
        self, connection: Connection, exchange: Exchange, dispatch: Dispatch
    ) -> Response:
        self._deadlines.add(exchange, dispatch.until_s)
        try:
            while hold_s := self._hold_s(dispatch.request):
                # For as long as that, or until it has taken too long.
                await asyncio.wait([exchange.arrival.done], timeout=hold_s)
                if exchange.is_over:
                    break
            else:
                connection.send(exchange, dispatch.data)
            await exchange.arrival.done
        finally:
            self._deadlines.discard(exchange)
            connection.drop(exchange)
            exchange.close()
        if self._tls_verbose_logging and connection.tls is not None:
            log_ssl_object(connection.tls)
        return make_response(exchange.arrival, connection)

    def _exchange(self, dispatch: Dispatch) -> Exchange:
        limits = self._limits.changed_by(dispatch.request.meta)
        return Exchange(dispatch, limits, self.crawler)

    @cached_property
    def _hold_s(self) -> Callable[[Request], float]:
        """How long to wait before sending. A handler that is used without Weft never waits."""
        crawl = find_crawl(self.crawler)
        return crawl.sender.hold_s if crawl else lambda request: 0.0

    @cached_property
    def _limits(self) -> AnswerLimits:
        """Read with the first request: before that, there is no spider."""
        spider = self.crawler.spider
        for attribute in ("download_maxsize", "download_warnsize"):
            if hasattr(spider, attribute):
                warn_on_deprecated_spider_attribute(attribute, attribute.upper())
        return AnswerLimits(
            max_bytes=getattr(spider, "download_maxsize", self._default_maxsize),
            warn_bytes=getattr(spider, "download_warnsize", self._default_warnsize),
            fails_on_loss=self._fail_on_dataloss,
        )


def _bind_address(value: str | tuple[str, int] | None) -> tuple[str, int] | None:
    return (value, 0) if isinstance(value, str) else value


def _is_retry(request: Request) -> bool:
    """A retry gets a new connection, so that it need not be sent twice once more."""
    return request.dont_filter and "retry_times" in request.meta


def _count_attempt(request: Request) -> None:
    """For Scrapy's retry middleware: the server may have received the request twice."""
    request.meta["retry_times"] = request.meta.get("retry_times", 0) + 1


def _may_repeat(dispatch: Dispatch) -> bool:
    request = dispatch.request
    is_harmless = request.method in _REPEATABLE and not request.body
    return is_harmless and stops.cut_count() == dispatch.cuts


def _own_schemes(settings: BaseSettings) -> frozenset[str]:
    if not is_asyncio_available() or _is_any_changed(settings, _RESOLVERS):
        return frozenset()
    if is_reactor_installed():
        from twisted.internet import reactor

        if has_own_resolver(reactor):
            return frozenset()
    if _is_any_changed(settings, _TLS_PARTS):
        return frozenset(("http",))
    return frozenset(("http", "https"))


def has_own_resolver(reactor: object) -> bool:
    """Whether a script has installed one, which only Scrapy's handler asks."""
    resolvers = (getattr(reactor, name, None) for name in ("resolver", "nameResolver"))
    return any(type(resolver).__module__ not in _USUAL_RESOLVERS for resolver in resolvers)


def _is_any_changed(settings: BaseSettings, names: tuple[str, ...]) -> bool:
    return any(settings[name] != getattr(scrapy_defaults, name) for name in names)
