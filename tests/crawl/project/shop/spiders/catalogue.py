from typing import Any

from scrapy import Spider
from scrapy.http import Response, TextResponse
from scrapy.settings import BaseSettings

from shop.items import PageLoader


class CatalogueSpider(Spider):
    """Loads items with an ItemLoader; pipelines drop, delay and replace them."""

    name = "catalogue"

    def __init__(self, site: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [site]

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        super().update_settings(settings)
        pipelines = ("DropOdd", "LateFirst", "Copied")
        places = {f"shop.pipelines.{name}": place for place, name in enumerate(pipelines)}
        settings.set("ITEM_PIPELINES", places, "spider")

    def parse(self, response: Response, **kwargs: Any) -> Any:
        assert isinstance(response, TextResponse)
        for number, _ in enumerate(response.css("li")):
            loader = PageLoader(item={}, response=response)
            loader.add_value("number", number)
            loader.add_css("title", "h1::text")
            loader.add_css("links", "li a::attr(href)")
            loader.add_value("raw", [response.url, number])
            yield loader.load_item()
        yield from response.follow_all(css="li a")
