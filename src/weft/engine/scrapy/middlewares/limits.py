"""Between Scrapy's downloader and the spiders: refuses pages that no parser can handle.

Our own spiders check their pages themselves, and `weft.LinkExtractor` uses another parser if a page
is too much for its own. The pages refused here are too much for Scrapy's selectors, too.
"""

from functools import cached_property

from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Response

from weft.engine.scrapy.middlewares.base import CrawlMiddleware
from weft.markup import PageLimits, find_long_tag


class LimitsMiddleware(CrawlMiddleware):
    @cached_property
    def _limits(self) -> PageLimits:
        return self._crawl.config.page_limits

    @cached_property
    def _is_wanted(self) -> bool:
        return self._has_crawl and not getattr(self._crawler.spider, "checks_pages", False)

    def process_response(self, request: Request, response: Response) -> Response:
        is_page = self._is_wanted and isinstance(response, HtmlResponse)
        if is_page and (excess := find_long_tag(response.body, self._limits)):
            self._crawler.stats.inc_value(f"pages/refused/{excess.limit}")
            raise IgnoreRequest(excess.reason)
        return response
