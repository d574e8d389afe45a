"""An ordinary Scrapy spider. Plain Scrapy and Weft's add-on both run this file.

`scrapy runspider ordinary.py -a urls="http://127.0.0.1:8000/ …"`
"""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import scrapy
from scrapy.http import TextResponse
from scrapy.linkextractors import LinkExtractor


class PagesSpider(scrapy.Spider):
    name = "pages"
    links = LinkExtractor(allow=r"^http://127\.")

    def __init__(self, urls: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.urls = urls.split()

    async def start(self) -> AsyncIterator[Any]:
        for url in self.urls:
            yield scrapy.Request(url)

    def parse(self, response: TextResponse) -> Iterator[Any]:  # type: ignore[override]
        yield {"url": response.url, "title": response.css("title::text").get()}
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url)
