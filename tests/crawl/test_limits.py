"""Pages that are too much for any parser, and spiders of your own."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from crawling import crawl
from scrapy import Request, Spider
from scrapy.http import HtmlResponse, Response

import weft
from weft.testing.hostile import HostileServer


class Reader(Spider):
    """Reads titles with Scrapy's selectors, and links with Weft's extractor."""

    name = "reader"

    def __init__(self, urls: list[str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.urls = urls
        self.links = weft.LinkExtractor()

    async def start(self) -> AsyncIterator[Any]:
        for url in self.urls:
            yield Request(url)

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Any]:
        assert isinstance(response, HtmlResponse)
        title = response.css("title::text").get()
        yield {
            "url": response.url,
            "title": title,
            "links": len(self.links.extract_links(response)),
        }


def test_spiders_of_your_own_are_spared_what_no_parser_can_bear(tmp_path: Path) -> None:
    names = (
        "attributes/plain",
        "attributes/quoted",
        "nested/div",
        "formatting/blocks",
        "many/rows",
    )
    with HostileServer(["markup"], []) as site:
        urls = [f"{site.url}markup/{name}" for name in names]
        done = crawl(tmp_path, Reader, urls=urls)
    assert {item["url"] for item in done.items} == {*urls[2:]}  # the others have Scrapy's parser
    assert done.stats["pages/refused/attributes"] == 2
    [fetch] = done.explain(urls[0]).fetches
    assert fetch.note == (
        "not parsed: a tag with more attributes than WEFT_MAX_PAGE_ATTRIBUTES = 5000"
    )
