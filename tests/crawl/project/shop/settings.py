BOT_NAME = "shop"
SPIDER_MODULES = ["shop.spiders"]
ROBOTSTXT_OBEY = True
RETRY_TIMES = 1
# The tests run on one machine with its own site.
CONCURRENT_REQUESTS_PER_DOMAIN = 8
DOWNLOAD_DELAY = 0
TELNETCONSOLE_ENABLED = False
