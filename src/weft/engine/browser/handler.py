"""Fetches requests by the browser, as a download handler of Scrapy does by itself."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import Response

from weft.engine.browser.config import BrowserConfig
from weft.engine.browser.finding import check_browser
from weft.engine.browser.outgoing import outgoing_page
from weft.engine.politeness import stops

if TYPE_CHECKING:
    from weft.engine.browser.browsers import Browsers

#: The key of `Request.meta` that asks for the browser.
WANTS_BROWSER = "weft_browser"
#: Used if DOWNLOAD_TIMEOUT is 0, as in Scrapy.
DEFAULT_TIMEOUT_S = 10.0


class BrowserHandler:
    """One browser for all pages of a crawl. It ends with the crawl."""

    def __init__(
        self, crawler: Crawler, config: BrowserConfig, hold_s: Callable[[Request], float]
    ) -> None:
        """`hold_s` says how long to hold back a request that could be sent now."""
        settings = crawler.settings
        self._config = config
        self._hold_s = hold_s
        self._timeout_s = settings.getfloat("DOWNLOAD_TIMEOUT") or DEFAULT_TIMEOUT_S
        self._max_bytes = settings.getint("DOWNLOAD_MAXSIZE")
        self._verifies = settings.getbool("DOWNLOAD_VERIFY_CERTIFICATES")
        crawler.signals.connect(self.close, signals.engine_stopped)

    async def download_request(self, request: Request) -> Response:
        """Raises ConfigError if there is no browser, and Scrapy's errors of downloads."""
        browsers = self._browsers
        from weft.engine.browser.visit import BrowserVisit  # it loads Playwright

        outgoing = outgoing_page(request, verifies=self._verifies)
        cuts = stops.cut_count()
        async with browsers.lend() as chromium:
            visit = BrowserVisit(
                outgoing,
                timeout_s=request.meta.get("download_timeout") or self._timeout_s,
                max_bytes=request.meta.get("download_maxsize", self._max_bytes),
                settle_s=self._config.settle_s,
                hold_s=lambda: self._hold_s(request),
                cuts=cuts,
            )
            answer = await visit.answer(chromium)
        request.meta["download_latency"] = visit.latency_s
        return answer.response(outgoing.url)

    async def close(self) -> None:
        if "_browsers" in self.__dict__:  # some page has needed it
            await self._browsers.close()

    @cached_property
    def _browsers(self) -> "Browsers":
        check_browser(self._config)
        from weft.engine.browser.browsers import Browsers  # it loads Playwright

        return Browsers(self._config)
