from typing import Any

from scrapy.http import Response
from scrapy.spiders import SitemapSpider


class MapSpider(SitemapSpider):
    name = "sitemap"
    sitemap_rules = ((r"/p/\d*[02468]\.html", "parse_even"), (r"/p/", "parse_odd"))

    def __init__(self, site: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.sitemap_urls = [f"{site}sitemap.xml"]

    def parse_even(self, response: Response) -> Any:
        yield {"url": response.url, "is_even": True}

    def parse_odd(self, response: Response) -> Any:
        yield {"url": response.url, "is_even": False}
