"""What is to be crawled, and how its crawl speaks."""

import logging

import pytest
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.redirect import RedirectMiddleware, logger
from scrapy.settings import Settings

from weft.engine.target import Target, find_target


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


OWN = {"DOWNLOAD_DELAY": 2, "WEFT_MAX_PAGES": 2}


class Own(Spider):
    name = "own"
    custom_settings = OWN


def test_options_go_before_the_spider_before_the_project_before_defaults() -> None:
    project = Settings({"DOWNLOAD_DELAY": 1, "WEFT_MAX_PAGES": 1, "WEFT_JOB": "news"}, "project")
    target = Target(Own, {}, project, "own")
    settings = target.settings_of_spider({"WEFT_MAX_PAGES": 3})
    assert settings["WEFT_MAX_PAGES"] == 3
    assert settings["DOWNLOAD_DELAY"] == 2
    assert settings["WEFT_JOB"] == "news"
    assert settings["LOG_LEVEL"] == "WARNING"
    assert settings["DEPTH_LIMIT"] == 0
    # Scrapy adds the spider's own later, and finds the same.
    crawler = Crawler(Own, target.settings_with({"WEFT_MAX_PAGES": 3}))
    assert {name: crawler.settings[name] for name in settings} == dict(settings.items())
    assert project["WEFT_MAX_PAGES"] == 1


def test_a_site_is_one_job_however_its_host_is_written() -> None:
    one, other = (find_target([url], {}) for url in ("http://site.test", "http://SITE.test:80/#x"))
    assert one.job == other.job
    assert one.arguments["urls"] == ["http://site.test/"]
