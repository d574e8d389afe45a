from scrapy_redis.spiders import RedisSpider


class BooksSpider(RedisSpider):
    """Start it with: redis-cli rpush books:start_urls http://127.0.0.1:8000/category/0.html"""

    name = "books"
    redis_key = "books:start_urls"

    def parse(self, response):
        for book in response.css("#component_59 li"):
            yield {
                "name": book.css("img::attr(alt)").get(),
                "price": book.css(".price span::text").get(),
                "author": book.css(".search_book_author a::text").get(),
            }
        yield from response.follow_all(css=".next a")
