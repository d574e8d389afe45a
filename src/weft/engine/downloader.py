"""Scrapy's downloader without politeness of its own: the frontier and the gate see to that."""

import sys

from scrapy.core.downloader import Downloader as ScrapyDownloader
from scrapy.crawler import Crawler


class Downloader(ScrapyDownloader):
    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.domain_concurrency = sys.maxsize
        self.ip_concurrency = 0
        self.per_slot_settings = {}
        self._delay = 0.0
