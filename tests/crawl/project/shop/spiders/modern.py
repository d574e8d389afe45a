import asyncio
from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request, Spider
from scrapy.http import Response


class ModernSpider(Spider):
    """Asynchronous from end to end, with items from the start and a request sent inline."""

    name = "modern"

    def __init__(self, site: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.site = site

    async def start(self) -> AsyncIterator[Any]:
        yield {"started": 1}
        yield Request(self.site)
        await asyncio.sleep(0.05)
        yield {"started": 2}
        yield Request(f"{self.site}p/20.html")

    async def parse(self, response: Response, **kwargs: Any) -> Any:
        await asyncio.sleep(0.001)
        yield {"url": response.url}
        for link in response.css("li a::attr(href)").getall():
            yield response.follow(link, self.parse_page)

    async def parse_page(self, response: Response) -> Any:
        extra = Request(response.urljoin(f"/echo?of={response.url}"))
        assert self.crawler.engine
        echo = await self.crawler.engine.download_async(extra)
        yield {"page": response.url, "echo": echo.json()["path"]}  # type: ignore[attr-defined]
