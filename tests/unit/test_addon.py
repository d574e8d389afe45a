"""What the add-on makes of a project's settings."""

from pathlib import Path
from typing import Any, Self

import pytest
from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.exceptions import CloseSpider
from scrapy.settings import BaseSettings, Settings, default_settings
from scrapy.utils.misc import load_object
from scrapy.utils.test import get_crawler

from weft import Addon
from weft.engine.scrapy import jobsettings
from weft.engine.scrapy.scheduler import crawl_of
from weft.engine.scrapy.tunnels import AnyTunnelError
from weft.engine.settings import JobConfig, read_settings

REMOTE_CONTROL = "scrapy.extensions.remote_control.RemoteControl"
COOKIES = "scrapy.downloadermiddlewares.cookies.CookiesMiddleware"
TUNNEL_ERROR = "scrapy.core.downloader.handlers.http11.TunnelError"


@pytest.mark.parametrize("is_wanted", [True, False])
def test_remote_control_is_loaded_only_if_the_project_wants_it(is_wanted: bool) -> None:
    settings = Settings({"REMOTE_CONTROL_ENABLED": True} if is_wanted else {}, "project")
    theirs = set(settings.get_component_priority_dict_with_base("EXTENSIONS"))
    Addon().update_settings(settings)
    loaded = set(settings.get_component_priority_dict_with_base("EXTENSIONS"))
    assert settings.getbool("REMOTE_CONTROL_ENABLED") is is_wanted
    assert theirs - loaded == (set() if is_wanted else {REMOTE_CONTROL})


def test_a_project_that_lists_remote_control_itself_keeps_it() -> None:
    settings = Settings({"EXTENSIONS": {REMOTE_CONTROL: 0}}, "project")
    Addon().update_settings(settings)
    assert REMOTE_CONTROL in settings.get_component_priority_dict_with_base("EXTENSIONS")


def test_a_spider_class_may_leave_the_name_to_its_spiders() -> None:
    crawler = get_crawler(Spider, {"ADDONS": {Addon: 500}})
    assert jobsettings.config_of(crawler).job == "job"


class Late(Spider):
    """Sets what it may still set when its crawler is made, and sees what the crawl is given."""

    name = "late"
    config: JobConfig

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        crawler.settings.set("WEFT_MAX_PAGES", 7, "spider")
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.look, signals.spider_opened)
        return spider

    def look(self) -> None:
        self.config = crawl_of(self.crawler).config
        raise CloseSpider


class LaterAddon:
    def update_settings(self, settings: BaseSettings) -> None:
        settings.set("DOWNLOAD_DELAY", 2, "addon")


async def test_settings_are_read_once_and_after_spiders_and_addons_have_set_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    reads: list[JobConfig] = []

    def read(settings: BaseSettings, spider_name: str) -> JobConfig:
        reads.append(read_settings(settings, spider_name))
        return reads[-1]

    monkeypatch.setattr(jobsettings, "read_settings", read)
    settings = {
        "ADDONS": {"weft.Addon": 500, LaterAddon: 600},
        "DOWNLOAD_HANDLERS": {"http": None, "https": None},
        "TWISTED_REACTOR_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
    }
    crawler = Crawler(Late, settings)
    await crawler.crawl_async()
    [config] = reads
    assert isinstance(crawler.spider, Late)
    assert crawler.spider.config is config
    assert config.max_pages == 7
    assert config.limits.delay_ms == 2000


@pytest.mark.parametrize(
    ("project", "is_kept"),
    [
        ({"COOKIES_ENABLED": False}, False),
        ({"COOKIES_ENABLED": True}, True),
        # Another add-on may switch them on.
        ({"COOKIES_ENABLED": False, "ADDONS": {"weft.Addon": 1, "another.Addon": 2}}, True),
    ],
)
def test_cookies_are_left_out_only_where_they_are_off(
    project: dict[str, object], is_kept: bool
) -> None:
    settings = Settings(project, "project")
    name = "DOWNLOADER_MIDDLEWARES"
    theirs = set(settings.get_component_priority_dict_with_base(name))
    Addon().update_settings(settings)
    loaded = set(settings.get_component_priority_dict_with_base(name))
    assert theirs - loaded == (set() if is_kept else {COOKIES})


def test_tunnel_errors_are_retried_without_loading_what_raises_them() -> None:
    settings = Settings()
    Addon().update_settings(settings)
    retried = settings.getlist("RETRY_EXCEPTIONS")
    assert TUNNEL_ERROR not in retried
    assert len(retried) == len(default_settings.RETRY_EXCEPTIONS)
    assert [error for error in retried if error is not AnyTunnelError] == [
        error for error in default_settings.RETRY_EXCEPTIONS if error != TUNNEL_ERROR
    ]
    retry = RetryMiddleware(settings)
    retry.crawler = get_crawler(Spider)
    retry.crawler.spider = Spider.from_crawler(retry.crawler, "any")
    error = load_object(TUNNEL_ERROR)
    request = Request("http://example.org/")
    for each in (error("refused"), type("OwnError", (error,), {})("refused"), OSError("closed")):
        assert retry.process_exception(request, each) is not None
    assert retry.process_exception(request, ValueError("anything else")) is None


def test_errors_that_the_project_retries_stay() -> None:
    given = ["builtins.OSError", TUNNEL_ERROR]
    settings = Settings({"RETRY_EXCEPTIONS": given}, "spider")
    Addon().update_settings(settings)
    assert settings.getlist("RETRY_EXCEPTIONS") == ["builtins.OSError", AnyTunnelError]


def test_with_scrapys_own_handler_its_error_is_named() -> None:
    settings = Settings({"WEFT_SCRAPY_PARTS": "handler"}, "project")
    Addon().update_settings(settings)
    assert TUNNEL_ERROR in settings.getlist("RETRY_EXCEPTIONS")


def test_a_project_without_retries_keeps_the_list_of_errors() -> None:
    settings = Settings({"RETRY_ENABLED": False}, "project")
    Addon().update_settings(settings)
    assert settings.getlist("RETRY_EXCEPTIONS") == default_settings.RETRY_EXCEPTIONS
