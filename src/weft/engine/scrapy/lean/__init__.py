"""Faster versions of Scrapy's parts: the same answers, items, statistics and log lines.

Each is a stateless subclass of Scrapy's own part, which it replaces in a crawl. A part that the
project has replaced is left alone, and WEFT_SCRAPY_PARTS names those that should stay Scrapy's.
"""

from scrapy.core.downloader.middleware import DownloaderMiddlewareManager
from scrapy.core.engine import ExecutionEngine
from scrapy.core.scraper import Scraper
from scrapy.core.spidermw import SpiderMiddlewareManager

from weft.engine.scrapy.lean.downloading import LeanDownloaderMiddlewares
from weft.engine.scrapy.lean.engine import LeanEngine
from weft.engine.scrapy.lean.scraper import LeanScraper
from weft.engine.scrapy.lean.spidering import LeanSpiderMiddlewares
from weft.engine.scrapy.lean.urls import make_urls_safe_quickly


def lighten(engine: ExecutionEngine) -> None:
    """Replace the parts. Called before the spider is opened."""
    make_urls_safe_quickly()
    scraper = engine.scraper
    if type(engine) is ExecutionEngine and type(scraper) is Scraper:
        engine.__class__ = LeanEngine
        scraper.__class__ = LeanScraper
    if type(scraper.spidermw) is SpiderMiddlewareManager:
        scraper.spidermw.__class__ = LeanSpiderMiddlewares
    if type(engine.downloader.middleware) is DownloaderMiddlewareManager:
        engine.downloader.middleware.__class__ = LeanDownloaderMiddlewares
