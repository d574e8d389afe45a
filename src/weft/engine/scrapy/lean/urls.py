"""Makes URLs safe quickly: most are safe as they are, and the others are cached.

Scrapy quotes the URL of every link that it extracts, and of every Request that is made. The result
depends only on the URL and the encoding, so this is for the whole process, and changes no result.
"""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any

import scrapy.http.request as scrapy_request
import scrapy.linkextractors.lxmlhtml as scrapy_links

from weft.engine.links.hrefs import is_safe_url

NAME = "safe_url_string"
#: Odd URLs whose safe form is cached. Not more: long-lived objects among short-lived ones spread
#: these over the memory. 20,000 URLs, few of them met again, cost a crawl a twentieth of its CPU.
REMEMBERED = 1000


def make_urls_safe_quickly() -> None:
    for module in (scrapy_request, scrapy_links):
        make_safe = getattr(module, NAME, None)
        if make_safe is not None and not hasattr(make_safe, "__wrapped__"):
            setattr(module, NAME, _quick(make_safe))


def _quick(make_safe: Callable[..., str]) -> Callable[..., str]:
    remembered = lru_cache(REMEMBERED)(make_safe)

    @wraps(make_safe)
    def quick(url: str | bytes, encoding: str = "utf8", *args: Any, **kwargs: Any) -> str:
        if isinstance(url, str) and is_safe_url(url, encoding):
            return url
        return remembered(url, encoding, *args, **kwargs)

    return quick
