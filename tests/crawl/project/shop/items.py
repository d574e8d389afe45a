from dataclasses import dataclass, field

from itemloaders.processors import Compose, Identity, MapCompose, TakeFirst
from scrapy import Field, Item
from scrapy.loader import ItemLoader


class Product(Item):
    """Filled in two steps: on the list page and on the detail page."""

    listed_on = Field()
    position = Field()
    title = Field()
    url = Field()
    tags = Field()
    seen_at = Field()


@dataclass
class Offer:
    product: str
    links: list[str] = field(default_factory=list)
    price: float | None = None


class PageLoader(ItemLoader):
    default_output_processor = TakeFirst()
    title_in = MapCompose(str.strip)
    number_in = MapCompose(int)
    links_out = Compose(set, sorted)
    raw_out = Identity()
