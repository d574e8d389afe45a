from typing import Any, ClassVar

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.logformatter import LogFormatter
from scrapy.robotstxt import ProtegoRobotParser
from scrapy.settings import BaseSettings
from scrapy.statscollectors import MemoryStatsCollector


class OwnHandler(HTTP11DownloadHandler):
    pass


class OwnFormatter(LogFormatter):
    pass


class OwnParser(ProtegoRobotParser):
    pass


class OwnStats(MemoryStatsCollector):
    pass


class OwnAddon:
    chosen: ClassVar[dict[str, Any]] = {}

    def update_settings(self, settings: BaseSettings) -> None:
        for name, value in self.chosen.items():
            settings.set(name, value, "addon")
