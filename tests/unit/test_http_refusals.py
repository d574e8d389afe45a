"""What the download handler refuses, as Scrapy's own does."""

import pytest
from scrapy import Request
from scrapy.exceptions import UnsupportedURLSchemeError
from scrapy.utils.test import get_crawler

from weft.engine.http.handler import HttpHandler


@pytest.mark.parametrize("name", ["DOWNLOAD_TLS_MIN_VERSION", "DOWNLOAD_TLS_MAX_VERSION"])
async def test_a_tls_version_that_there_is_not_is_refused_before_any_request(name: str) -> None:
    crawler = get_crawler(settings_dict={name: "TLSv9"})
    with pytest.raises(ValueError, match=f"Unknown {name} value: TLSv9"):
        HttpHandler(crawler)


async def test_another_scheme_than_http_is_refused() -> None:
    handler = HttpHandler(get_crawler())
    with pytest.raises(UnsupportedURLSchemeError):
        await handler.download_request(Request("gopher://example.org/"))
    await handler.close()
