from typing import Any

from scrapy import Selector
from scrapy.http import Response
from scrapy.spiders import XMLFeedSpider


class FeedSpider(XMLFeedSpider):
    name = "feed"
    iterator = "xml"
    namespaces = (("s", "http://www.sitemaps.org/schemas/sitemap/0.9"),)
    itertag = "s:url"

    def __init__(self, site: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [f"{site}sitemap.xml"]

    def parse_node(self, response: Response, selector: Selector) -> Any:
        yield {"loc": selector.xpath("s:loc/text()").get()}
        yield response.follow(selector.xpath("s:loc/text()").get() or "", self.parse_page)

    def parse_page(self, response: Response) -> Any:
        yield {"page": response.url}
