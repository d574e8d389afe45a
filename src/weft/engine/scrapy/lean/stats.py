"""Faster statistics: Scrapy's collector checks every call for a deprecated argument."""

from scrapy.statscollectors import MemoryStatsCollector


class LeanStatsCollector(MemoryStatsCollector):
    """Still takes that argument (the spider), but does not warn about it."""

    __getattribute__ = object.__getattribute__
