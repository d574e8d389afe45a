"""From what XPaths find to the fields of a book."""

from decimal import Decimal, InvalidOperation

from itemloaders.processors import Join, MapCompose, TakeFirst
from scrapy.loader import ItemLoader

from bookshop.items import Book


def absolute(address: str, loader_context: dict) -> str:
    return loader_context["response"].urljoin(address)


def squeeze(text: str) -> str | None:
    """Without the line breaks and indentation of the page; nothing if that was all."""
    return " ".join(text.split()) or None


def yuan(text: str) -> Decimal | None:
    """`¥1,024.50`, as a number; nothing where a page says that there is no price yet."""
    try:
        return Decimal(text.strip().lstrip("¥￥").replace(",", ""))
    except InvalidOperation:
        return None


class BookLoader(ItemLoader):
    default_item_class = Book
    default_input_processor = MapCompose(squeeze)
    default_output_processor = TakeFirst()

    source_in = MapCompose(absolute)
    price_in = MapCompose(yuan)
    description_out = Join()
