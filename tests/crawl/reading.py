"""Spiders that read files and text in many forms."""

from typing import Any

from scrapy.http import Response, TextResponse
from scrapy.spiders import CSVFeedSpider
from walking import Fetcher


class PriceList(CSVFeedSpider):
    """Reads a list of prices, and a page for each of its rows."""

    name = "prices"
    delimiter = ";"
    quotechar = "'"

    def __init__(self, start_urls: list[str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = start_urls
        self.headers = ["name", "price", "page"]

    def adapt_response(self, response: Response) -> Response:
        return response.replace(body=response.body.replace(b"EUR ", b""))

    def parse_row(self, response: Response, row: dict[str, str]) -> Any:
        yield dict(row)
        yield response.follow(row["page"], self.parse_page, cb_kwargs={"row": row})

    def parse_page(self, response: Response, row: dict[str, str]) -> Any:
        yield {"page": row["name"], "status": response.status}

    def process_results(self, response: Response, results: Any) -> Any:
        found = list(results)
        return [{"results": len(found)}, *found]


class TextReader(Fetcher):
    """What each page says, and in which encoding."""

    name = "texts"

    def parse(self, response: Response, **kwargs: Any) -> Any:
        assert isinstance(response, TextResponse)
        yield {
            "url": response.url,
            "encoding": response.encoding,
            "text": response.text,
            "title": response.css("title::text").get(),
            "links": [response.urljoin(link) for link in response.css("a::attr(href)").getall()],
        }
        for link in response.css("a"):
            yield response.follow(link, self.parse_linked)

    def parse_linked(self, response: Response) -> Any:
        yield {"url": response.url, "linked": True}
