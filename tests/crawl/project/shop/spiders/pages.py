from typing import Any

from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule


class PagesSpider(CrawlSpider):
    name = "pages"
    rules = (
        Rule(LinkExtractor(allow=r"/p/\d+[05]\.html"), callback="parse_round", follow=True),
        Rule(LinkExtractor(allow=r"/(p|r)/\d+"), callback="parse_page", follow=True),
    )

    def __init__(self, site: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [site]

    def parse_start_url(self, response: Response, **kwargs: Any) -> Any:
        yield {"url": response.url, "rule": "start", "depth": 0}

    def parse_page(self, response: Response) -> Any:
        yield {"url": response.url, "rule": "page", "text": response.meta["link_text"]}

    def parse_round(self, response: Response) -> Any:
        yield {"url": response.url, "rule": "round", "redirected": "redirect_urls" in response.meta}
