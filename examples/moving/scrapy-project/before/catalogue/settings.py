BOT_NAME = "catalogue"
SPIDER_MODULES = ["catalogue.spiders"]

ROBOTSTXT_OBEY = True
DOWNLOAD_DELAY = 0
CONCURRENT_REQUESTS_PER_DOMAIN = 8

ITEM_PIPELINES = {"catalogue.pipelines.PriceInYuan": 300}
FEEDS = {"books.jsonl": {"format": "jsonlines", "overwrite": True}}
