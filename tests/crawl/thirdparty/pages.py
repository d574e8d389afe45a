"""A spider with page objects, for scrapy-poet."""

from collections.abc import AsyncIterator
from typing import Any

import attrs
from scrapy import Request, Spider
from scrapy.http import Response, TextResponse
from scrapy_poet import DummyResponse, callback_for
from web_poet import HttpClient, ItemPage, WebPage, field, handle_urls


@attrs.define
class Page:
    url: str
    title: str
    echo: str = ""


@handle_urls("")
class TitlePage(WebPage[Page]):
    @field
    def url(self) -> str:
        return str(self.response.url)

    @field
    def title(self) -> str:
        return str(self.css("h1::text").get())


@attrs.define
class EchoingPage(ItemPage[Page]):
    """Sends a request of its own, inline."""

    page: TitlePage
    http: HttpClient

    async def to_item(self) -> Page:
        answer = await self.http.get(f"{self.page.response.urljoin('/echo')}?by=poet")
        return Page(self.page.url, self.page.title, answer.json()["path"])


class PoetSpider(Spider):
    name = "poet"
    parse_title = callback_for(TitlePage)

    def __init__(self, site: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.site = site

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.site, self.parse_list)
        yield Request(f"{self.site}p/9.html", self.parse_echo)

    def parse_list(self, response: Response, page: TitlePage) -> Any:
        yield {"list": page.url, "title": page.title}
        assert isinstance(response, TextResponse)
        yield from response.follow_all(css="li a", callback=self.parse_item)
        yield response.follow("/p/9.html", self.parse_title)

    def parse_item(self, response: DummyResponse, item: Page) -> Any:
        yield item

    async def parse_echo(self, response: DummyResponse, page: EchoingPage) -> Any:
        yield await page.to_item()
