"""The crawls that run in this process, for functions that are given nothing but a response."""

from typing import TYPE_CHECKING
from weakref import WeakSet

from scrapy.http import Response

if TYPE_CHECKING:
    from weft.engine.crawl import Crawl

_crawls: "WeakSet[Crawl]" = WeakSet()


def note_crawl(crawl: "Crawl") -> None:
    """It begins; it is forgotten when nothing else needs it any more."""
    _crawls.add(crawl)


def find_crawl_of(response: Response) -> "Crawl | None":
    """The crawl that fetched a page; None if none did."""
    crawls = [crawl for crawl in _crawls if crawl.is_open]
    if response.request is None or not crawls:
        return None
    if len(crawls) == 1:
        return crawls[0]  # also of what a callback downloads past the scheduler
    request = response.request
    return next((crawl for crawl in crawls if crawl.fates.get(request)), None)
