"""The scheduler of a Scrapy crawl: passes Scrapy's calls on to the parts of a `Crawl`.

Scrapy calls it synchronously, and it answers from memory: what Scrapy enqueues goes into the
buffer, and what Scrapy takes comes from the supply.
"""

from collections.abc import Callable
from typing import Self, cast

from scrapy import Request, Spider
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import Deferred

from weft.engine.crawl import Crawl
from weft.engine.running import note_crawl
from weft.engine.scrapy.items import ItemFollower
from weft.engine.scrapy.jobsettings import config_of
from weft.engine.scrapy.lean import lighten
from weft.engine.scrapy.scrapyparts import ScrapyPart
from weft.errors import EngineError


class QueueLength:
    """All that can be seen of a queue of requests."""

    def __init__(self, count: Callable[[], int]) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count()


class Scheduler(BaseScheduler):
    def __init__(self, crawl: Crawl, items: ItemFollower) -> None:
        self.crawl = crawl
        #: What waits in the frontier, and what waits here: for people who look at Scrapy's queues,
        #: as `est()` of the telnet console does.
        self.dqs = QueueLength(lambda: crawl.settling.stats.queued if crawl.is_open else 0)
        self.mqs = QueueLength(lambda: crawl.settling.ready if crawl.is_open else 0)
        self._items = items  # signals do not keep it

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        config = config_of(crawler)
        if ScrapyPart.ENGINE not in config.scrapy_parts:
            lighten(crawler.engine)
        crawl = Crawl(crawler, config)
        return cls(crawl, ItemFollower(crawler, crawl))

    def open(self, spider: Spider) -> Deferred[None]:
        note_crawl(self.crawl)
        return deferred_from_coro(self.crawl.open(spider))

    def close(self, reason: str) -> Deferred[None]:
        return deferred_from_coro(self.crawl.close(reason))

    def has_pending_requests(self) -> bool:
        return not (self.crawl.error or self.crawl.activity.is_finished)

    def enqueue_request(self, request: Request) -> bool:
        return self.crawl.requests.adder.add(request)

    def next_request(self) -> Request | None:
        return self.crawl.requests.source.next()


def crawl_of(crawler: Crawler) -> Crawl:
    """The crawl that this crawler runs."""
    crawl = find_crawl(crawler)
    if crawl is None:
        raise EngineError("Weft's components only work together; enable the add-on weft.Addon")
    return crawl


def find_crawl(crawler: Crawler) -> Crawl | None:
    """The crawl that this crawler runs; None if it has another scheduler, or none yet."""
    try:
        scheduler = crawler.engine.scheduler
    except RuntimeError:  # no engine yet
        return None
    # Not isinstance: for Scrapy's schedulers it is true of anything that has their methods.
    if Scheduler not in type(scheduler).__mro__:
        return None
    return cast(Scheduler, scheduler).crawl
