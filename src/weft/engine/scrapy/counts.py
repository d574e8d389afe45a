"""Collects counts for Scrapy's statistics, and adds them once a round: each call there is slow."""

from collections import Counter

from scrapy.statscollectors import StatsCollector


class Counts(Counter[str]):
    def __init__(self, stats: StatsCollector) -> None:
        super().__init__()
        self._stats = stats

    def flush(self) -> None:
        for name, number in self.items():
            self._stats.inc_value(name, number)
        self.clear()
