"""Skips log lines that no handler takes: Scrapy makes two a page and drops them at the end."""

import logging
from typing import Any

from scrapy import Request, Spider
from scrapy.core import engine, scraper
from scrapy.http import Response
from scrapy.logformatter import LogFormatter
from twisted.python.failure import Failure


class LeanLogFormatter(LogFormatter):
    def crawled(self, request: Request, response: Response, spider: Spider) -> Any:
        if not is_heard(engine.logger, logging.DEBUG):
            return None
        return super().crawled(request, response, spider)

    def scraped(self, item: Any, response: Response | Failure | None, spider: Spider) -> Any:
        if not is_heard(scraper.logger, logging.DEBUG):
            return None
        return super().scraped(item, response, spider)


def is_heard(logger: logging.Logger, level: int) -> bool:
    """Whether any handler would take a record of this level."""
    if not logger.isEnabledFor(level):
        return False
    place: logging.Logger | None = logger
    while place is not None:
        if any(handler.level <= level for handler in place.handlers):
            return True
        place = place.parent if place.propagate else None
    return False
