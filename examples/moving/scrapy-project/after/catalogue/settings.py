BOT_NAME = "catalogue"
SPIDER_MODULES = ["catalogue.spiders"]

ADDONS = {"weft.Addon": 500}
WEFT_STORE = "redis://localhost:6379/0"
WEFT_WORKERS_PER_HOST = 2

ROBOTSTXT_OBEY = True
DOWNLOAD_DELAY = 0
CONCURRENT_REQUESTS_PER_DOMAIN = 8

ITEM_PIPELINES = {"catalogue.pipelines.PriceInYuan": 300}
WEFT_SINKS = ["books.jsonl"]
