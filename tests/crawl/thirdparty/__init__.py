"""Spiders for packages that many Scrapy projects use."""
