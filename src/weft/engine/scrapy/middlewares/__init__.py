"""Small middlewares at the ends of Scrapy's two chains, which watch what happens."""
