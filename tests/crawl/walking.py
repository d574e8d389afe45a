"""Spiders that many tests share."""

from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request, Spider
from scrapy.http import Response, TextResponse


class Walker(Spider):
    """Starts as most spiders do and follows every link."""

    name = "walker"

    def __init__(self, start_urls: list[str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = start_urls

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield {"url": response.url, "status": response.status}
        assert isinstance(response, TextResponse)
        yield from response.follow_all(css="a")


class Fetcher(Spider):
    """Fetches the given URLs, and nothing else."""

    name = "fetcher"

    def __init__(self, urls: list[str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.urls = urls

    async def start(self) -> AsyncIterator[Any]:
        for url in self.urls:
            yield Request(url)

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield {"url": response.url, "status": response.status}


class Reader(Fetcher):
    """Reads the text of each page."""

    name = "reader"

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield {"url": response.url, "text": response.css("p::text").get()}
