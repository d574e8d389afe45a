"""Three small middlewares, at the ends of Scrapy's two chains, that watch what happens."""
