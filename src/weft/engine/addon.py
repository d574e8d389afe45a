"""`ADDONS = {"weft.Addon": 500}`: one line, and a Scrapy project runs on Weft."""

from collections.abc import Container
from typing import Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from scrapy.utils.misc import load_object

from weft.engine.lean.signals import LeanSignals
from weft.engine.scrapyparts import ScrapyPart
from weft.engine.settings import DEFAULT_CONCURRENT_REQUESTS, SETTINGS, read_settings
from weft.engine.unpacking import refuse_many_parts
from weft.errors import ConfigError

HANDLER = "weft.engine.http.handler.HttpHandler"

_REMOTE_CONTROL = "scrapy.extensions.remote_control.RemoteControl"

_PARTS = {
    "SCHEDULER": "weft.engine.scheduler.Scheduler",
    "DOWNLOADER": "weft.engine.downloader.Downloader",
    "ITEM_PROCESSOR": "weft.engine.items.ItemProcessor",
}

_REPLACEABLE = {
    ScrapyPart.LOG: ("LOG_FORMATTER", "weft.engine.lean.logs.LeanLogFormatter"),
    ScrapyPart.STATS: ("STATS_CLASS", "weft.engine.lean.stats.LeanStatsCollector"),
}

_MIDDLEWARES = {
    "DOWNLOADER_MIDDLEWARES": {
        # After Scrapy's HttpCompressionMiddleware, before its MetaRefreshMiddleware.
        "weft.engine.answers.CharsetMiddleware": 585,
        "weft.engine.middlewares.limits.LimitsMiddleware": 0,  # next to the engine
        "weft.engine.middlewares.fetch.FetchMiddleware": 10_000,  # next to the network
    },
    "SPIDER_MIDDLEWARES": {
        "weft.engine.middlewares.place.PlaceMiddleware": 0,  # next to the engine
        "weft.engine.middlewares.callback.CallbackMiddleware": 10_000,  # next to the spider
    },
}


class Addon:
    def __init__(self, crawler: Crawler | None = None) -> None:
        """`crawler`: None: only to read how it would be crawled."""
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def update_settings(self, settings: BaseSettings) -> None:
        for name, default in SETTINGS.items():
            settings.set(name, default, "default")
        if not settings.getbool("WEFT_ENABLED"):
            raise NotConfigured("WEFT_ENABLED is False")
        for name, path in _PARTS.items():
            _refuse_other(settings, name)
            settings.set(name, path, "addon")
        for setting, places in _MIDDLEWARES.items():
            for path, place in places.items():
                settings.set_in_component_priority_dict(setting, load_object(path), place)
        settings.set("ROBOTSTXT_PARSER", "weft.engine.robots.BoundedRobotParser", "addon")
        refuse_many_parts()
        settings.set("CONCURRENT_REQUESTS", DEFAULT_CONCURRENT_REQUESTS, "addon")
        _leave_out_remote_control(settings)
        # What is wrong is told before anything starts.
        config = read_settings(settings, spider_name="")
        self._replace_parts(settings, config.scrapy_parts)

    def _replace_parts(self, settings: BaseSettings, kept: Container[ScrapyPart]) -> None:
        """Those that a project may have replaced by its own."""
        for part, (name, path) in _REPLACEABLE.items():
            if part not in kept:
                settings.set(name, path, "addon")
        if ScrapyPart.HANDLER not in kept:
            _set_handlers(settings)
        if self._crawler is not None and ScrapyPart.SIGNALS not in kept:
            self._crawler.signals = LeanSignals(self._crawler)


def _leave_out_remote_control(settings: BaseSettings) -> None:
    """It runs whatever Python is posted to it. Unless the project wants that, it is not even
    loaded: that takes an eighth of the time of a crawl of one page."""
    settings.set("REMOTE_CONTROL_ENABLED", False, "addon")
    if not settings.getbool("REMOTE_CONTROL_ENABLED"):
        name = "EXTENSIONS_BASE"
        extensions = settings.getdict(name)
        extensions.pop(_REMOTE_CONTROL, None)
        settings.set(name, extensions, "addon")


def _set_handlers(settings: BaseSettings) -> None:
    """For those schemes of the web for which the project has no handler of its own."""
    name = "DOWNLOAD_HANDLERS"
    ours = {"http": HANDLER, "https": HANDLER}
    priority = max(settings.getpriority(name) or 0, SETTINGS_PRIORITIES["addon"])
    settings.set(name, ours | settings.getdict(name), priority)


def _refuse_other(settings: BaseSettings, name: str) -> None:
    if (settings.getpriority(name) or 0) > SETTINGS_PRIORITIES["addon"]:
        raise ConfigError(
            f"the project sets {name} to {settings[name]!r}, which Weft replaces; "
            f"remove {name} from its settings, or remove weft.Addon from ADDONS"
        )
