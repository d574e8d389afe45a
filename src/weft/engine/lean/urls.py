"""URLs made safe quickly: most are safe as they are, and the others are remembered.

Scrapy quotes the URL of every link that it extracts, and of every Request that is made. The answer
depends on nothing but the URL and the encoding; so this is for the whole process, and changes no
answer.
"""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any

import scrapy.http.request as scrapy_request
import scrapy.linkextractors.lxmlhtml as scrapy_links

from weft.engine.links import is_safe_url

NAME = "safe_url_string"
#: Odd URLs whose safe form is remembered. Not more: objects that stay among those that come and go
#: spread these over the memory. 20,000 URLs, few of them met again, cost a crawl a twentieth of its
#: CPU.
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
