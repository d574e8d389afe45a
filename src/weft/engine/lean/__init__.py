"""Scrapy's parts with less work in them: the same answers, items, statistics and log lines.

Each is a subclass of Scrapy's own, without state, that takes its place in a crawl. A part that the
project has replaced is left alone, and WEFT_SCRAPY_PARTS names those that shall be Scrapy's.
"""

from scrapy.core.downloader.middleware import DownloaderMiddlewareManager
from scrapy.core.engine import ExecutionEngine
from scrapy.core.scraper import Scraper
from scrapy.core.spidermw import SpiderMiddlewareManager

from weft.engine.lean.downloading import LeanDownloaderMiddlewares
from weft.engine.lean.engine import LeanEngine
from weft.engine.lean.scraper import LeanScraper
from weft.engine.lean.spidering import LeanSpiderMiddlewares
from weft.engine.lean.urls import make_urls_safe_quickly


def lighten(engine: ExecutionEngine) -> None:
    """Before the spider is opened."""
    make_urls_safe_quickly()
    scraper = engine.scraper
    if type(engine) is ExecutionEngine and type(scraper) is Scraper:
        engine.__class__ = LeanEngine
        scraper.__class__ = LeanScraper
    if type(scraper.spidermw) is SpiderMiddlewareManager:
        scraper.spidermw.__class__ = LeanSpiderMiddlewares
    if type(engine.downloader.middleware) is DownloaderMiddlewareManager:
        engine.downloader.middleware.__class__ = LeanDownloaderMiddlewares
