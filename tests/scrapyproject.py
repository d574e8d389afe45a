"""A small Scrapy project with the add-on, and its commands, as users run them."""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from urllib.parse import urlsplit

from running import Program

SPIDER = '''
import os
import signal

import scrapy
from scrapy.exceptions import CloseSpider


class ShopSpider(scrapy.Spider):
    """Fetches its URLs, and links of the first page if it is given any."""

    name = "shop"
    urls = ""
    links = ""
    close_on = ""
    start_fails = ""

    async def start(self):
        for url in self.urls.split():
            yield scrapy.Request(url)
        if self.start_fails:
            raise ValueError("no more addresses")

    def parse(self, response):
        """Gives one item for each page.

        @url {site}
        @returns items 1 1
        """
        yield {"url": response.url}
        for link in self.links.split():
            yield scrapy.Request(link)
        if self.close_on and response.url.endswith(self.close_on):
            raise CloseSpider("enough")


class KillPipeline:
    """Dies when everything is done, but for the end of the crawl."""

    def process_item(self, item):
        return item

    def close_spider(self):
        os.kill(os.getpid(), signal.SIGKILL)
'''


class ScrapyProject(Program):
    """`scrapy` in a project of its own."""

    def __init__(
        self, directory: Path, *, site: str = "", name: str = "shop", is_plain: bool = False
    ) -> None:
        super().__init__(directory, sys.executable, "-m", "scrapy")
        package = directory / name
        package.mkdir(parents=True)
        (directory / "scrapy.cfg").write_text(f"[settings]\ndefault = {name}.settings\n")
        (package / "__init__.py").write_text("")
        (package / "spiders.py").write_text(SPIDER.replace("{site}", site))
        settings: dict[str, Any] = {
            "BOT_NAME": name,
            "SPIDER_MODULES": [f"{name}.spiders"],
            "TELNETCONSOLE_ENABLED": False,
            "RETRY_TIMES": 0,
        }
        if not is_plain:
            settings["ADDONS"] = {"weft.Addon": 500}
        lines = [f"{name} = {value!r}\n" for name, value in settings.items()]
        (package / "settings.py").write_text("".join(lines))

    def crawl_command(
        self, *options: str, settings: Mapping[str, Any] | None = None, **arguments: str
    ) -> list[str]:
        given = [part for name in arguments for part in ("-a", f"{name}={arguments[name]}")]
        return [
            *("crawl", "shop", "-o", "-:jsonlines", *given, *options),
            *(
                part
                for item in (settings or {}).items()
                for part in ("-s", "=".join(map(str, item)))
            ),
        ]

    def crawl(
        self, *options: str, settings: Mapping[str, Any] | None = None, **arguments: str
    ) -> CompletedProcess[str]:
        return self(*self.crawl_command(*options, settings=settings, **arguments))

    def crawl_twice_at_once(
        self, settings: Mapping[str, Any], **arguments: str
    ) -> list[CompletedProcess[str]]:
        """Two workers of one crawl."""
        command = self.crawl_command(settings=settings, **arguments)
        started = [self.start(*command) for _ in range(2)]
        ended = []
        for process in started:
            out, err = process.communicate(timeout=60)
            ended.append(CompletedProcess(command, process.returncode, out, err))
        return ended


def paths_of(ended: Iterable[CompletedProcess[str]]) -> list[str]:
    """The paths of the items that were printed, sorted."""
    lines = (line for each in ended for line in each.stdout.splitlines())
    return sorted(urlsplit(json.loads(line)["url"]).path for line in lines)
