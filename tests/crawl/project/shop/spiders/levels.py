from collections.abc import AsyncIterator
from typing import Any

from scrapy import Spider
from scrapy.extensions.remote_control import RemoteControl
from scrapy.settings import BaseSettings


class LevelsSpider(Spider):
    """Says which values of some settings have won."""

    name = "levels"

    def __init__(self, names: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.names = names.split(",")

    async def start(self) -> AsyncIterator[Any]:
        settings = self.crawler.settings
        yield {name: as_text(settings[name]) for name in self.names}
        yield {
            "formatter": type(self.crawler.logformatter).__name__,
            "stats": type(self.crawler.stats).__name__,
            "has_remote_control": self.crawler.get_extension(RemoteControl) is not None,
        }


def as_text(value: Any) -> str:
    return str(dict(value) if isinstance(value, BaseSettings) else value)
