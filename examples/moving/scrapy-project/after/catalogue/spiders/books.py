import scrapy


class BooksSpider(scrapy.Spider):
    name = "books"

    def __init__(self, shop="http://127.0.0.1:8000/", **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [shop]

    def parse(self, response):
        yield from response.follow_all(css="#categories a", callback=self.parse_list)

    def parse_list(self, response):
        for book in response.css("#component_59 li"):
            yield {
                "name": book.css("img::attr(alt)").get(),
                "price": book.css(".price span::text").get(),
                "author": book.css(".search_book_author a::text").get(),
            }
        yield from response.follow_all(css=".next a", callback=self.parse_list)
