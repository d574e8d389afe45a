"""What is to be crawled, and how its crawl speaks."""

import logging

import pytest
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.redirect import RedirectMiddleware, logger

from weft.engine.target import find_target


class WithoutReferer(Crawler):
    def get_spider_middleware(self, cls: type) -> None:
        return None


def test_a_site_hears_all_warnings_of_redirects_but_of_their_missing_referer(
    caplog: pytest.LogCaptureFixture,
) -> None:
    target = find_target(["http://site.test/"], {})
    middleware = RedirectMiddleware.from_crawler(WithoutReferer(target.spider, target.settings))
    with caplog.at_level(logging.WARNING):
        middleware._engine_started()
        logger.warning("a redirect leads nowhere")
    assert [record.getMessage() for record in caplog.records] == ["a redirect leads nowhere"]
