"""`DOWNLOAD_HANDLERS = {"http": "weft.engine.http.handler.HttpHandler", "https": …}`."""

import asyncio
import logging
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
)
from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy.settings import default_settings as scrapy_defaults
from scrapy.utils._download_handlers import get_dataloss_msg, normalize_bind_address
from scrapy.utils.asyncio import is_asyncio_available
from scrapy.utils.deprecate import warn_on_deprecated_spider_attribute
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.ssl import _log_sslobj_debug_info, _make_ssl_context

from weft.engine import stops
from weft.engine.http.connection import CUT_OFF, Connection
from weft.engine.http.connector import Connector
from weft.engine.http.deadlines import Deadlines
from weft.engine.http.exchange import Exchange
from weft.engine.http.limits import Limits
from weft.engine.http.order import Order, Route
from weft.engine.http.origin import origin_of
from weft.engine.http.pool import Pool
from weft.engine.http.resolver import Resolver
from weft.engine.http.response import make_response
from weft.engine.http.wire import request_bytes

logger = logging.getLogger(__name__)

#: Where DOWNLOAD_TIMEOUT is 0, as in Scrapy.
DEFAULT_TIMEOUT_S = 10.0

# What may be sent twice, where nobody can tell whether it arrived.
_REPEATABLE = frozenset(("GET", "HEAD", "OPTIONS", "DELETE", "TRACE"))

# Settings that only Scrapy's own handler obeys: if one is changed, all requests go there, or all
# of https.
_RESOLVERS = ("TWISTED_DNS_RESOLVER", "DNS_RESOLVER")
_TLS_PARTS = ("DOWNLOADER_CLIENTCONTEXTFACTORY", "DOWNLOADER_CLIENT_TLS_METHOD")


class HttpHandler(BaseHttpDownloadHandler):
    """Downloads what is plain HTTP/1.1, and leaves the rest to Scrapy's own handler."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        self._timeout_s = settings.getfloat("DOWNLOAD_TIMEOUT") or DEFAULT_TIMEOUT_S
        self._local = normalize_bind_address(settings.get("DOWNLOAD_BIND_ADDRESS"))
        self._schemes = _own_schemes(settings)
        self._deadlines = Deadlines()
        self._pool = Pool()
        self._resolver = Resolver(
            cache_size=settings.getint("DNSCACHE_SIZE") * settings.getbool("DNSCACHE_ENABLED"),
            timeout_s=settings.getfloat("DNS_TIMEOUT"),
            threads=settings.getint("REACTOR_THREADPOOL_MAXSIZE"),
        )
        self._connector = Connector(self._resolver, self._pool, lambda: _make_ssl_context(settings))
        self._fallback: DownloadHandlerProtocol | None = None
        self._is_closed = False

    async def download_request(self, request: Request) -> Response:
        order = self._order(request)
        if order is None:
            return await self._scrapy_handler(request).download_request(request)
        if stops.is_cutting():
            raise DownloadFailedError(CUT_OFF)
        try:
            return await self._download(order)
        except TimeoutError as error:
            url = request.url.partition("#")[0]
            problem = f"Getting {url} took longer than {order.timeout_s} seconds."
            raise DownloadTimeoutError(problem) from error
        except ResponseDataLossError:
            if not self._fail_on_dataloss_warned:
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

    def _order(self, request: Request) -> Order | None:
        """None: it is one for Scrapy's own handler."""
        meta = request.meta
        parts = urlparse_cached(request)
        origin = origin_of(parts.scheme, parts.netloc) if parts.scheme in self._schemes else None
        data = request_bytes(request, origin) if origin and not meta.get("proxy") else None
        if origin is None or data is None:
            return None
        bind_address = meta.get("bindaddress")
        local = normalize_bind_address(bind_address) if bind_address else self._local
        timeout_s = meta.get("download_timeout") or self._timeout_s
        return Order(
            request=request,
            route=Route(origin, local),
            data=data,
            timeout_s=timeout_s,
            until_s=asyncio.get_running_loop().time() + timeout_s,
            cuts=stops.cut_count(),
        )

    def _scrapy_handler(self, request: Request) -> DownloadHandlerProtocol:
        if self._fallback is None:
            scheme = urlparse_cached(request).scheme
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

    async def _download(self, order: Order) -> Response:
        connection = self._pool.take(order.route)
        if connection is None:
            return await self._ask_anew(order)
        exchange = self._exchange(order)
        try:
            return await self._ask(connection, exchange, order)
        except DownloadFailedError:
            # The server may have closed it before the request came.
            if self._is_closed or exchange.has_begun or not _may_repeat(order):
                raise
        try:
            return await self._ask_anew(order)
        except DownloadFailedError:
            _count_attempt(order.request)
            raise

    async def _ask_anew(self, order: Order) -> Response:
        connection = await self._connector.connect(order.route, order.until_s)
        return await self._ask(connection, self._exchange(order), order)

    async def _ask(self, connection: Connection, exchange: Exchange, order: Order) -> Response:
        self._deadlines.add(exchange, order.until_s)
        try:
            connection.send(exchange, order.data)
            await exchange.done
        finally:
            self._deadlines.discard(exchange)
            connection.drop(exchange)
            exchange.close()
        if self._tls_verbose_logging and connection.tls is not None:
            _log_sslobj_debug_info(connection.tls)
        return make_response(exchange, connection)

    def _exchange(self, order: Order) -> Exchange:
        limits = self._limits.changed_by(order.request.meta)
        return Exchange(order, limits, self.crawler)

    @cached_property
    def _limits(self) -> Limits:
        """Not before the first request: there is no spider before."""
        spider = self.crawler.spider
        for attribute in ("download_maxsize", "download_warnsize"):
            if hasattr(spider, attribute):
                warn_on_deprecated_spider_attribute(attribute, attribute.upper())
        return Limits(
            max_bytes=getattr(spider, "download_maxsize", self._default_maxsize),
            warn_bytes=getattr(spider, "download_warnsize", self._default_warnsize),
            fails_on_loss=self._fail_on_dataloss,
        )


def _count_attempt(request: Request) -> None:
    """For Scrapy's retry middleware: the server may have had the request twice."""
    request.meta["retry_times"] = request.meta.get("retry_times", 0) + 1


def _may_repeat(order: Order) -> bool:
    request = order.request
    is_harmless = request.method in _REPEATABLE and not request.body
    return is_harmless and stops.cut_count() == order.cuts


def _own_schemes(settings: BaseSettings) -> frozenset[str]:
    if not is_asyncio_available() or _is_any_changed(settings, _RESOLVERS):
        return frozenset()
    if _is_any_changed(settings, _TLS_PARTS):
        return frozenset(("http",))
    return frozenset(("http", "https"))


def _is_any_changed(settings: BaseSettings, names: tuple[str, ...]) -> bool:
    return any(settings[name] != getattr(scrapy_defaults, name) for name in names)
