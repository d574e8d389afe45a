"""Runs spider classes of the tests in a fresh interpreter, and reports the result.

`crawl(directory, Spider, …)` starts this file as a script in `directory`; that crawls with Weft and
writes a report for each spider, which `crawl` reads back.
"""

import asyncio
import importlib
import json
import logging
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from itemadapter import ItemAdapter
from scrapy import Spider, signals
from scrapy.crawler import AsyncCrawlerProcess, Crawler

from weft.engine.requests.fingerprint import start_fingerprint
from weft.frontier import RocksFrontier
from weft.records import Explanation
from weft.testing import Hit
from weft.urls import fingerprint

TIMEOUT_S = 60.0


@dataclass(frozen=True)
class Crawl:
    """One finished run."""

    directory: Path
    name: str
    #: What Scrapy says it scraped, in order.
    items: list[dict[str, Any]] = field(default_factory=list)
    stats: dict[str, Any] = field(default_factory=dict)
    #: Why the spider was closed; empty if it never opened.
    reason: str = ""
    log: str = ""

    @property
    def job_dir(self) -> Path:
        return self.directory / ".weft" / self.name

    def stored(self) -> list[dict[str, Any]]:
        """The items in Weft's own file, over all runs of the job."""
        return read_items(self.job_dir / "items.db")

    def explain(self, url: str) -> Explanation:
        """What the frontier knows about a URL, as a link or else as a start."""
        number = fingerprint(url)
        as_link, as_start = explain(self.job_dir, number, start_fingerprint(number))
        return as_start if as_link.seen_at_ms is None and not as_link.dropped_by else as_link


def read_items(path: Path) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT item FROM items ORDER BY id").fetchall()
    return [json.loads(item) for (item,) in rows]


def explain(job_dir: Path, *numbers: int) -> list[Explanation]:
    async def ask() -> list[Explanation]:
        async with RocksFrontier(job_dir / "frontier", is_read_only=True) as frontier:
            return await frontier.explain(numbers)

    return asyncio.run(ask())


def paths(hits: Sequence[Hit]) -> list[str]:
    return [hit.path for hit in hits]


def urls(items: Sequence[Mapping[str, Any]]) -> list[str]:
    """The paths of the items' URLs, sorted: a site has a different port each time."""
    return sorted(urlsplit(item["url"]).path for item in items)


def times(hits: Sequence[Hit]) -> Counter[str]:
    """How often each path was fetched."""
    return Counter(paths(hits))


def start_crawl(
    directory: Path,
    *spiders: type[Spider],
    settings: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> subprocess.Popen[str]:
    from nursery import Popen  # imported here, because the process that is started cannot find it

    order = {
        "spiders": [[spider.__module__, spider.__qualname__] for spider in spiders],
        "settings": {"ADDONS": {"weft.Addon": 500}, "TELNETCONSOLE_ENABLED": False}
        | dict(settings or {}),
        "arguments": arguments,
    }
    return Popen(
        [sys.executable, __file__, json.dumps(order)],
        cwd=directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_while_running(
    process: "subprocess.Popen[str]", seconds: float = TIMEOUT_S, until: Callable[[], bool] = bool
) -> None:
    """Wait for this long, or until something has happened, while the crawl must not end."""
    deadline_s = time.monotonic() + seconds
    while time.monotonic() < deadline_s and not until():
        try:
            process.wait(0.01)
        except subprocess.TimeoutExpired:
            continue
        raise AssertionError(f"the crawl has ended too early:\n{process.communicate()[1]}")


def crawl_all(
    directory: Path,
    *spiders: type[Spider],
    settings: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> list[Crawl]:
    """Crawl with all spiders in one process."""
    with start_crawl(directory, *spiders, settings=settings, **arguments) as process:
        try:
            output, log = process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            raise AssertionError(f"the crawl does not end:\n{process.communicate()[1]}") from None
    reports = json.loads(output) if output else [{"name": spider.name} for spider in spiders]
    return [Crawl(directory, log=log, **report) for report in reports]


def crawl(
    directory: Path,
    spider: type[Spider],
    settings: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> Crawl:
    [done] = crawl_all(directory, spider, settings=settings, **arguments)
    return done


# In the process that crawls


class Reporter:
    """Gathers what one crawler does, by Scrapy's own signals."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._items: list[dict[str, Any]] = []
        self._reason = ""
        crawler.signals.connect(self._note_item, signals.item_scraped)
        crawler.signals.connect(self._note_closed, signals.spider_closed)

    def _note_item(self, item: Any) -> None:
        self._items.append(ItemAdapter(item).asdict())

    def _note_closed(self, reason: str) -> None:
        self._reason = reason

    def report(self) -> dict[str, Any]:
        stats = self._crawler.stats.get_stats() if self._crawler.stats else {}
        return {
            "name": self._crawler.spidercls.name,
            "items": self._items,
            "stats": stats,
            "reason": self._reason,
        }


def main(order: dict[str, Any]) -> None:
    process = AsyncCrawlerProcess(order["settings"])
    reporters = []
    for module, name in order["spiders"]:
        crawler = process.create_crawler(getattr(importlib.import_module(module), name))
        # Tests give their spiders other arguments in the next run of a job.
        crawler.settings.set("WEFT_JOB", crawler.spidercls.name, "command")
        reporters.append(Reporter(crawler))
        process.crawl(crawler, **order["arguments"])
    process.start()
    json.dump([reporter.report() for reporter in reporters], sys.stdout, default=str)


if __name__ == "__main__":
    logging.captureWarnings(True)
    main(json.loads(sys.argv[1]))
