"""Four small middlewares, one at each end of Scrapy's two chains, that watch what happens."""
