BOT_NAME = "bookshop"
SPIDER_MODULES = ["bookshop.spiders"]

# All that makes it distributed: workers that share a store share the crawl.
ADDONS = {"weft.Addon": 500}

# As one should visit a shop of somebody else. `run.py` has one of its own and lifts this.
ROBOTSTXT_OBEY = True
DOWNLOAD_DELAY = 1
