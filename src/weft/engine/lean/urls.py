"""URLs made safe once: most links of a page were on the page before.

Scrapy quotes the URL of every link that it extracts, and of every Request that is made. The answer
depends on nothing but the URL and the encoding, so it is remembered; that is for the whole process,
and changes no answer.
"""

from functools import lru_cache

import scrapy.http.request as scrapy_request
import scrapy.linkextractors.lxmlhtml as scrapy_links

NAME = "safe_url_string"
#: URLs whose safe form is remembered.
REMEMBERED = 20_000


def remember_safe_urls() -> None:
    for module in (scrapy_request, scrapy_links):
        make_safe = getattr(module, NAME, None)
        if make_safe is not None and not hasattr(make_safe, "cache_info"):
            setattr(module, NAME, lru_cache(REMEMBERED)(make_safe))
