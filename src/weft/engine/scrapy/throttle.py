"""What AutoThrottle makes of the answers of hosts: the delays of Scrapy's download slots.

Requests do not wait in those slots. The gate keeps these delays, too, so that all that must be true
of a request is still true when it is sent.
"""

from scrapy import Request
from scrapy.crawler import Crawler


class Throttle:
    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._is_on = crawler.settings.getbool("AUTOTHROTTLE_ENABLED")

    def delay_s(self, request: Request) -> float:
        """The delay of the slot that a request is in; 0 without AutoThrottle."""
        if not self._is_on:
            return 0.0
        _, slot = self._crawler.engine.downloader._get_slot(request)
        return slot.delay
