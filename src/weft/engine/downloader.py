"""Scrapy's downloader without politeness of its own: the frontier and the gate see to that.

It also notes what each request ends with: whatever the middlewares did, it is known here.
"""

import sys
from typing import Any

from scrapy import Request, Spider
from scrapy.core.downloader import Downloader as ScrapyDownloader
from scrapy.crawler import Crawler
from scrapy.http import Response
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from weft.engine.scheduler import scheduler_of


class Downloader(ScrapyDownloader):
    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.domain_concurrency = sys.maxsize
        self.ip_concurrency = 0
        self.per_slot_settings = {}
        self._delay = 0.0

    def fetch(self, request: Request, spider: Spider | None = None) -> Deferred[Any]:
        def note_result(result: Response | Request) -> Response | Request:
            scheduler_of(self.crawler).fates.note_result(request, result)
            return result

        def note_error(failure: Failure) -> Failure:
            scheduler_of(self.crawler).fates.note_error(request, failure)
            return failure

        return super().fetch(request).addCallbacks(note_result, note_error)
