"""Runs one crawl in this process, from the first request to the report."""

import asyncio
import gc
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.exceptions import NotConfigured

from weft.clock import monotonic_s
from weft.engine.scrapy.addon import Addon
from weft.engine.scrapy.reactors import check_reactor_setting
from weft.engine.scrapy.scheduler import crawl_of
from weft.engine.settings import JobConfig, read_settings
from weft.engine.target import Target
from weft.errors import ConfigError
from weft.garbage import not_collected
from weft.records import Stats
from weft.reports import WATCH_S, Progress, Report
from weft.urls import without_password

if TYPE_CHECKING:
    from weft.engine.crawl import Crawl


def run_crawl(
    target: Target, overrides: Mapping[str, Any], watch: Callable[[Progress], None]
) -> Report | None:
    """Crawl until done. Ctrl-C stops cleanly; a second one stops at once, without a report."""
    settings = target.settings_with(overrides)
    process = AsyncCrawlerProcess(settings)
    # Scrapy makes all log records and lets its handler drop them, which costs time.
    logging.getLogger("scrapy").setLevel(settings["LOG_LEVEL"])
    logging.getLogger().setLevel(settings["LOG_LEVEL"])
    crawler = process.create_crawler(target.spider)
    watcher = _Watcher(crawler, watch)
    with not_collected():  # until the crawl is open
        task = process.crawl(crawler, **target.arguments)
        process.start()
    if task.done() and not task.cancelled() and (problem := task.exception()):
        raise problem
    return watcher.report()


def check_job(target: Target, overrides: Mapping[str, Any]) -> JobConfig:
    """Read the settings of a crawl before it is started. Raises ConfigError as the crawl would.

    The crawl reads them once more when it opens, because Scrapy lets spiders and add-ons change
    them until then."""
    settings = target.settings_of_spider(overrides)
    try:
        check_reactor_setting(settings)
        Addon().update_settings(settings)
    except NotConfigured as problem:
        raise ConfigError(f"this spider does not run on Weft: {problem}") from problem
    return read_settings(settings, target.job)


class _Watcher:
    """Checks the progress of a crawl from time to time, and once more when it has ended."""

    def __init__(self, crawler: Crawler, watch: Callable[[Progress], None]) -> None:
        self._crawler = crawler
        self._watch = watch
        self._started_s = monotonic_s()
        self._crawl: Crawl | None = None
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
        gc.freeze()  # objects that exist by now stay, so the garbage collector can skip them
        gc.enable()
        self._crawl = crawl_of(self._crawler)
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
        crawl = self._crawl if self._crawl and self._crawl.is_open else None
        pages, items = crawl.results.accepted() if crawl else (0, 0)
        return Progress(
            elapsed_s=monotonic_s() - self._started_s,
            pages=pages,
            items=items,
            errors=crawl.results.failures.total() if crawl else 0,
            stats=crawl.settling.stats if crawl else Stats(),
            is_stopping=bool(self._crawl) and not self._crawler.crawling,
        )

    def report(self) -> Report | None:
        crawl = self._crawl
        if crawl is None or not self._reason:
            return None
        if crawl.error is not None and not crawl.is_open:
            raise crawl.error
        return Report(
            reason=self._reason,
            progress=self._last,
            sinks=tuple(map(without_password, crawl.config.sinks)),
            dead_letters=crawl.delivery.refused,
            failures=dict(crawl.results.failures.most_common()),
            refused=crawl.results.refused,
            item_errors=self._item_errors,
            error=crawl.error,
        )
