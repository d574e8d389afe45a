"""What Scrapy loads: the add-on, the scheduler, the downloader, the middlewares."""
