"""Scrapy's tests of HTTP download handlers, on Weft's. It lies beside them when it runs."""

import sys
from typing import Any

import pytest
from tests.utils.bases.download_handlers_http import (
    TestHttpBase,
    TestHttpProxyBase,
    TestHttpsBase,
    TestHttpsCustomCiphersBase,
    TestHttpsDefaultCiphersBase,
    TestHttpsInvalidDNSIdBase,
    TestHttpsInvalidDNSPatternBase,
    TestHttpsTLSVersionBase,
    TestHttpsWrongHostnameBase,
    TestHttpWithCrawlerBase,
    TestMitmProxyBase,
    TestRealWebsiteBase,
    TestSimpleHttpsBase,
)

from weft.engine.http.handler import HttpHandler
from weft.engine.scrapy.addon import HANDLER


class OnWeft:
    @property
    def download_handler_cls(self) -> type[HttpHandler]:
        return HttpHandler

    @property
    def settings_dict(self) -> dict[str, Any]:
        return {"DOWNLOAD_HANDLERS": {"http": HANDLER, "https": HANDLER}}


class TestHttp(OnWeft, TestHttpBase):
    pass


class TestHttps(OnWeft, TestHttpsBase):
    # As Scrapy's other handlers on asyncio say it.
    tls_log_message = "SSL connection to 127.0.0.1 using protocol TLSv1.3, cipher"


class TestSimpleHttps(OnWeft, TestSimpleHttpsBase):
    pass


class TestHttpsWrongHostname(OnWeft, TestHttpsWrongHostnameBase):
    pass


class TestHttpsInvalidDNSId(OnWeft, TestHttpsInvalidDNSIdBase):
    pass


class TestHttpsInvalidDNSPattern(OnWeft, TestHttpsInvalidDNSPatternBase):
    pass


class TestHttpsCustomCiphers(OnWeft, TestHttpsCustomCiphersBase):
    pass


class TestHttpsDefaultCiphers(OnWeft, TestHttpsDefaultCiphersBase):
    pass


class TestHttpsTLSVersion(OnWeft, TestHttpsTLSVersionBase):
    pass


class TestHttpWithCrawler(OnWeft, TestHttpWithCrawlerBase):
    pass


class TestHttpsWithCrawler(TestHttpWithCrawler):
    is_secure = True


class TestHttpProxy(OnWeft, TestHttpProxyBase):
    pass


class TestHttpsProxy(OnWeft, TestHttpProxyBase):
    is_secure = True
    # Scrapy's handler, which gets what goes through proxies, does not have it.
    handler_supports_tls_in_tls = False


@pytest.mark.requires_mitmproxy
class TestMitmProxy(OnWeft, TestMitmProxyBase):
    handler_supports_tls_in_tls = False


@pytest.mark.requires_internet
class TestRealWebsite(OnWeft, TestRealWebsiteBase):
    @property
    def platform_cert_store_works(self) -> bool:
        return sys.platform != "win32"
