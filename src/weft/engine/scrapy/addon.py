"""`ADDONS = {"weft.Addon": 500}`: one line, and a Scrapy project runs on Weft."""

from collections.abc import Container
from typing import Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from scrapy.utils.misc import load_object

from weft.config import DEFAULT_CONCURRENT_REQUESTS
from weft.engine.extensions.filesstore import make_files_store_safe
from weft.engine.scrapy.callers import is_inspecting
from weft.engine.scrapy.compat import check_libraries
from weft.engine.scrapy.jobsettings import JobSettings
from weft.engine.scrapy.lean.signals import LeanSignals
from weft.engine.scrapy.scrapyparts import ScrapyPart
from weft.engine.scrapy.tunnels import stand_in_for_tunnel_error
from weft.engine.scrapy.unpacking import refuse_many_parts
from weft.engine.settings import SETTINGS
from weft.engine.settingsreader import SettingsReader
from weft.errors import ConfigError

HANDLER = "weft.engine.http.handler.HttpHandler"

_ROBOTS_PARSER = "weft.engine.politeness.robots.BoundedRobotParser"
_REMOTE_CONTROL = "scrapy.extensions.remote_control.RemoteControl"
_COOKIES = "scrapy.downloadermiddlewares.cookies.CookiesMiddleware"

_PARTS = {
    "SCHEDULER": "weft.engine.scrapy.scheduler.Scheduler",
    "DOWNLOADER": "weft.engine.scrapy.downloader.Downloader",
}

_REPLACEABLE = {
    ScrapyPart.LOG: ("LOG_FORMATTER", "weft.engine.scrapy.lean.logs.LeanLogFormatter"),
    ScrapyPart.STATS: ("STATS_CLASS", "weft.engine.scrapy.lean.stats.LeanStatsCollector"),
}

_MIDDLEWARES = {
    "DOWNLOADER_MIDDLEWARES": {
        # After Scrapy's HttpCompressionMiddleware, before its MetaRefreshMiddleware.
        "weft.engine.scrapy.answers.CharsetMiddleware": 585,
        "weft.engine.scrapy.middlewares.limits.LimitsMiddleware": 0,  # next to the engine
        "weft.engine.scrapy.middlewares.fetch.FetchMiddleware": 10_000,  # next to the network
    },
    "SPIDER_MIDDLEWARES": {
        "weft.engine.scrapy.middlewares.position.PositionMiddleware": 0,  # next to the engine
        "weft.engine.scrapy.middlewares.callback.CallbackMiddleware": 10_000,  # next to the spider
    },
}


class Addon:
    def __init__(self, crawler: Crawler | None = None) -> None:
        """`crawler` is None if only the settings are to be read."""
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def update_settings(self, settings: BaseSettings) -> None:
        if self._crawler is not None and is_inspecting():
            _leave_job_alone(settings)
            raise NotConfigured  # without a reason, about which Scrapy would warn
        check_libraries()
        for name, default in SETTINGS.items():
            settings.set(name, default, "default")
        if not settings.getbool("WEFT_ENABLED"):
            raise NotConfigured("WEFT_ENABLED is False")
        for name, path in _PARTS.items():
            _refuse_other(settings, name, path)
            settings.set(name, path, "addon")
        for setting, places in _MIDDLEWARES.items():
            for path, place in places.items():
                settings.set_in_component_priority_dict(setting, load_object(path), place)
        _set_default(settings, "ROBOTSTXT_PARSER", _ROBOTS_PARSER)
        refuse_many_parts()
        make_files_store_safe()
        _set_default(settings, "CONCURRENT_REQUESTS", DEFAULT_CONCURRENT_REQUESTS)
        _leave_out_remote_control(settings)
        _leave_out_cookies(settings)
        settings.set_in_component_priority_dict("EXTENSIONS", JobSettings, -1)  # before all others
        # What is wrong with this or any other setting is reported by `JobSettings`.
        kept = SettingsReader(settings).choices("WEFT_SCRAPY_PARTS", ScrapyPart)
        self._replace_parts(settings, kept)

    def _replace_parts(self, settings: BaseSettings, kept: Container[ScrapyPart]) -> None:
        """Replace the parts for which a project may also have its own."""
        for part, (name, path) in _REPLACEABLE.items():
            if part not in kept:
                _set_default(settings, name, path)
        if ScrapyPart.HANDLER not in kept:
            _set_handlers(settings)
            stand_in_for_tunnel_error(settings)
        if self._crawler is not None and ScrapyPart.SIGNALS not in kept:
            self._crawler.signals = LeanSignals(self._crawler)


def _leave_job_alone(settings: BaseSettings) -> None:
    """Plain Scrapy would put its own queue into JOBDIR. Its shell even hangs if there is one."""
    settings.set("JOBDIR", None, settings.getpriority("JOBDIR") or 0)


def _set_default(settings: BaseSettings, name: str, value: object) -> None:
    """Set it, unless the project or an add-on before us has."""
    if (settings.getpriority(name) or 0) < SETTINGS_PRIORITIES["addon"]:
        settings.set(name, value, "addon")


def _leave_out_remote_control(settings: BaseSettings) -> None:
    """This extension runs any Python code that is posted to it. Unless the project wants that, it
    is not even loaded: loading it takes an eighth of the time of a one-page crawl."""
    _set_default(settings, "REMOTE_CONTROL_ENABLED", False)
    if not settings.getbool("REMOTE_CONTROL_ENABLED"):
        _leave_out(settings, "EXTENSIONS_BASE", _REMOTE_CONTROL)


def _leave_out_cookies(settings: BaseSettings) -> None:
    """Where there are no cookies, do not even load the middleware: its list of domains comes with a
    second HTTP client, a twentieth of the start."""
    if not settings.getbool("COOKIES_ENABLED"):
        _leave_out(settings, "DOWNLOADER_MIDDLEWARES_BASE", _COOKIES)


def _leave_out(settings: BaseSettings, name: str, path: str) -> None:
    if len(settings.getdict("ADDONS")) > 1:
        return  # an add-on that follows us may want it
    parts = settings.getdict(name)
    parts.pop(path, None)
    settings.set(name, parts, "addon")


def _set_handlers(settings: BaseSettings) -> None:
    """Set our handler for http and https, unless the project has its own."""
    name = "DOWNLOAD_HANDLERS"
    ours = {"http": HANDLER, "https": HANDLER}
    # Without a reactor, Scrapy sets its own in this place of the project.
    least = "addon" if settings.getbool("TWISTED_REACTOR_ENABLED") else "project"
    priority = max(settings.getpriority(name) or 0, SETTINGS_PRIORITIES[least])
    settings.set(name, ours | settings.getdict(name), priority)


def _refuse_other(settings: BaseSettings, name: str, ours: str) -> None:
    is_set = (settings.getpriority(name) or 0) >= SETTINGS_PRIORITIES["addon"]
    if is_set and settings[name] != ours:
        raise ConfigError(
            f"the project sets {name} to {settings[name]!r}, which Weft replaces; "
            f"remove {name} from its settings, or remove weft.Addon from ADDONS"
        )
