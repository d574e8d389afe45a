"""A spider of which some pages need a browser."""

from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request, Spider
from scrapy.http import Response, TextResponse

IN_BROWSER = {"weft_browser": True}


class AppSpider(Spider):
    name = "app"

    def __init__(self, url: str, paths: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._starts = [url + path for path in paths.split(",")]

    async def start(self) -> AsyncIterator[Any]:
        for url in self._starts:
            yield Request(url, meta=IN_BROWSER)

    def parse(self, response: Response, **kwargs: Any) -> Any:
        assert isinstance(response, TextResponse)
        links = response.css("#root a")
        if not links:
            yield {"url": response.url, "text": response.css("#root p::text").get()}
        yield from response.follow_all(links, meta=IN_BROWSER)
