from scrapy import Spider

from bookshop.loaders import BookLoader

BOOKS = '//ul[@id="component_59"]/li'
#: Pages that lead to others; all the rest have something to keep.
NAV = {"weft_kind": "nav"}


class BooksSpider(Spider):
    """Front page → lists of books, page after page → books."""

    name = "books"

    def __init__(self, shop="http://127.0.0.1:8000/", **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [shop]

    def parse(self, response):
        yield from response.follow_all(css="#categories a", callback=self.parse_list, meta=NAV)

    def parse_list(self, response):
        yield from response.follow_all(xpath=f"{BOOKS}/a", callback=self.parse_book)
        yield from response.follow_all(css=".next a", callback=self.parse_list, meta=NAV)

    def parse_book(self, response):
        loader = BookLoader(selector=response.xpath(BOOKS)[0], response=response)
        loader.add_xpath("source", ".//img/@src")
        loader.add_xpath("name", ".//img/@alt")
        loader.add_xpath("price", './/p[@class="price"]/span[1]/text()')
        loader.add_xpath("author", './/p[@class="search_book_author"]/span[1]/a[1]/text()')
        loader.add_xpath("description", ".//p[2]/text()")
        return loader.load_item()
