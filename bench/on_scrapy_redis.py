"""scrapy-redis: its own scheduler with its default queue and duplicate filter.

Scrapy calls the scheduler for each request; that is all that happens here too. There is no way to
report that a request is done: once popped, it is gone.
"""

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Self

from scrapy import Request
from scrapy.exceptions import ScrapyDeprecationWarning
from scrapy.utils.misc import load_object

from bench.contestant import Found, make_crawler, plain_requests, usual_requests
from bench.workload import Page

_SETTINGS = {
    "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
    "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
    # Without it the queue is deleted when the scheduler is closed, before it can be measured.
    "SCHEDULER_PERSIST": True,
}


class OnScrapyRedis:
    name = "scrapy-redis"
    queue_keys: Sequence[str] = ("bench:requests",)

    def __init__(self, url: str, *, is_plain: bool = False) -> None:
        self._crawler, self._spider = make_crawler(_SETTINGS | {"REDIS_URL": url})
        self._is_plain = is_plain
        self._warnings = warnings.catch_warnings()

    def __enter__(self) -> Self:
        self._warnings.__enter__()
        # It passes the spider to Scrapy's stats, which is deprecated. It costs no time.
        warnings.simplefilter("ignore", ScrapyDeprecationWarning)
        scheduler = load_object(self._crawler.settings["SCHEDULER"])
        self._scheduler: Any = scheduler.from_crawler(self._crawler)
        self._scheduler.open(self._spider)
        return self

    def __exit__(self, *_: object) -> None:
        self._scheduler.close("finished")
        self._scheduler.server.close()
        self._scheduler.df.server.close()
        self._warnings.__exit__(None, None, None)

    def find(self, pages: Iterable[Page]) -> list[Found]:
        return [Found(Request(page.url), page.links, self._requests(page)) for page in pages]

    def _requests(self, page: Page) -> list[Request]:
        if self._is_plain:
            return plain_requests(page)
        return usual_requests(page, self._spider)

    def add(self, found: Sequence[Found]) -> None:
        enqueue_request = self._scheduler.enqueue_request
        for page in found:
            for request in page.requests:
                enqueue_request(request)

    def take(self, many: int) -> list[Request]:
        next_request = self._scheduler.next_request
        requests = []
        for _ in range(many):
            request = next_request()
            if request is None:
                break
            requests.append(request)
        return requests

    def queued(self) -> int:
        return len(self._scheduler)
