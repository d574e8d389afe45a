BOT_NAME = "catalogue"
SPIDER_MODULES = ["catalogue.spiders"]

SCHEDULER = "scrapy_redis.scheduler.Scheduler"
DUPEFILTER_CLASS = "scrapy_redis.dupefilter.RFPDupeFilter"
SCHEDULER_PERSIST = True
REDIS_URL = "redis://localhost:6379/0"

ROBOTSTXT_OBEY = True
DOWNLOAD_DELAY = 0
CONCURRENT_REQUESTS_PER_DOMAIN = 8

ITEM_PIPELINES = {"scrapy_redis.pipelines.RedisPipeline": 300}
