"""Running one crawl in this process, from the first request to the report."""

import asyncio
import gc
import logging
from collections.abc import Callable, Mapping
from typing import Any

from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.exceptions import NotConfigured
from scrapy.settings import Settings

from weft.clock import monotonic_s
from weft.engine.addon import Addon
from weft.engine.scheduler import Scheduler, scheduler_of
from weft.engine.settings import JobConfig, read_settings
from weft.engine.target import Target
from weft.errors import ConfigError
from weft.records import Stats
from weft.reports import WATCH_S, Progress, Report
from weft.urls import without_password

ADDON = "weft.Addon"
#: What differs from Scrapy's own commands, below what the project and the user say.
DEFAULTS = {
    "LOG_INSTALL_ROOT_HANDLER": False,
    "LOG_LEVEL": "WARNING",
    "TELNETCONSOLE_ENABLED": False,
}


def run_crawl(
    target: Target, overrides: Mapping[str, Any], watch: Callable[[Progress], None]
) -> Report | None:
    """Crawl until done. Ctrl-C stops cleanly, a second one at once: there is no report then."""
    settings = target.settings
    settings.setdict(DEFAULTS, "command")
    settings.setdict(dict(overrides), "cmdline")
    switch_on(settings)
    process = AsyncCrawlerProcess(settings)
    # Scrapy logs everything and leaves it to its handler to drop it; that costs time.
    logging.getLogger("scrapy").setLevel(settings["LOG_LEVEL"])
    logging.getLogger().setLevel(settings["LOG_LEVEL"])
    crawler = process.create_crawler(target.spider)
    watcher = _Watcher(crawler, watch)
    task = process.crawl(crawler, **target.arguments)
    process.start()
    if task.done() and not task.cancelled() and (problem := task.exception()):
        raise problem
    return watcher.report()


def read_job(target: Target, overrides: Mapping[str, Any]) -> JobConfig:
    """How this would be crawled, without doing it. Raises ConfigError as a crawl would."""
    settings = target.settings_of_spider()
    settings.setdict(dict(overrides), "cmdline")
    try:
        Addon().update_settings(settings)
    except NotConfigured as problem:
        raise ConfigError(f"this spider does not run on Weft: {problem}") from problem
    return read_settings(settings, target.spider.name)


def switch_on(settings: Settings) -> None:
    """Make Weft an add-on of the project if it is none."""
    addons = settings.getdict("ADDONS")
    if not any(str(name).startswith("weft.") for name in addons):
        settings.set("ADDONS", addons | {ADDON: 500}, "cmdline")


class _Watcher:
    """Looks at a crawl from time to time, and once more when it has ended."""

    def __init__(self, crawler: Crawler, watch: Callable[[Progress], None]) -> None:
        self._crawler = crawler
        self._watch = watch
        self._started_s = monotonic_s()
        self._scheduler: Scheduler | None = None
        self._task: asyncio.Task[None] | None = None
        self._reason = ""
        self._item_errors = 0
        self._last = self._look()
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._closed, signals.spider_closed)
        crawler.signals.connect(self._item_failed, signals.item_error)

    def _item_failed(self) -> None:
        self._item_errors += 1

    def _opened(self) -> None:
        gc.freeze()  # what is there by now stays, and need not be looked at for garbage
        self._scheduler = scheduler_of(self._crawler)
        self._task = asyncio.ensure_future(self._watch_on())

    async def _watch_on(self) -> None:
        while True:
            self._last = self._look()
            self._watch(self._last)
            await asyncio.sleep(WATCH_S)

    def _closed(self, reason: str) -> None:
        self._reason = reason
        if self._task is not None:
            self._task.cancel()
        self._last = self._look()

    def _look(self) -> Progress:
        scheduler = self._scheduler
        is_open = scheduler is not None and scheduler.is_open
        stats = scheduler.buffer.stats if scheduler and is_open else Stats()
        pages, items = scheduler.accepted() if scheduler and is_open else (0, 0)
        return Progress(
            elapsed_s=monotonic_s() - self._started_s,
            pages=pages,
            items=items,
            errors=scheduler.failures.total() if scheduler else 0,
            stats=stats,
            is_stopping=bool(scheduler) and not self._crawler.crawling,
        )

    def report(self) -> Report | None:
        scheduler = self._scheduler
        if scheduler is None or not self._reason:
            return None
        if scheduler.error is not None and not scheduler.is_open:
            raise scheduler.error
        return Report(
            reason=self._reason,
            progress=self._last,
            sinks=tuple(map(without_password, scheduler.config.sinks)),
            dead_letters=scheduler.delivery.refused,
            failures=dict(scheduler.failures.most_common()),
            refused=scheduler.refused,
            item_errors=self._item_errors,
            error=scheduler.error,
        )
