"""A spider whose pages are fetched by a browser, for scrapy-playwright."""

from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request, Spider
from scrapy.http import Response, TextResponse
from scrapy_playwright.page import PageMethod

WRITE = "document.body.append('written by a script')"


class BrowserSpider(Spider):
    name = "browser"

    def __init__(self, site: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.site = site

    async def start(self) -> AsyncIterator[Any]:
        yield self.in_browser(self.site, self.parse_list)

    def in_browser(self, url: str, callback: Any) -> Request:
        methods = [PageMethod("evaluate", WRITE), PageMethod("title")]
        meta = {"playwright": True, "playwright_page_methods": methods}
        return Request(url, callback, meta=meta)

    def parse_list(self, response: Response) -> Any:
        yield from self.parse_page(response)
        assert isinstance(response, TextResponse)
        for link in response.css("li a::attr(href)").getall():
            yield self.in_browser(response.urljoin(link), self.parse_page)
        yield response.follow(
            "/p/9.html",
            self.parse_open_page,
            meta={"playwright": True, "playwright_include_page": True},
        )
        yield response.follow("/p/8.html", self.parse_page)

    def parse_page(self, response: Response) -> Any:
        done = response.meta.get("playwright_page_methods", [])
        yield {
            "url": response.url,
            "is_written": b"written by a script" in response.body,
            "titles": [each.result for each in done if each.method == "title"],
        }

    async def parse_open_page(self, response: Response) -> Any:
        page = response.meta["playwright_page"]
        yield {"url": response.url, "title": await page.title()}
        await page.close()
