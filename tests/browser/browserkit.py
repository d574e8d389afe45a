"""Fetches pages by a browser, without a crawl around it, and looks at its processes."""

from typing import Any

import psutil
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.settings import Settings

from weft.engine.browser.config import BrowserConfig
from weft.engine.browser.handler import BrowserHandler


class Browser:
    def __init__(self, config: BrowserConfig, settings: dict[str, Any]) -> None:
        crawler = Crawler(Spider, Settings({"DOWNLOAD_TIMEOUT": 30, **settings}))
        #: How long requests are held back, by their URL.
        self.holds: dict[str, list[float]] = {}
        self.handler = BrowserHandler(crawler, config, self._hold_s)

    def _hold_s(self, request: Request) -> float:
        left = self.holds.get(request.url)
        return left.pop(0) if left else 0.0

    async def fetch(self, url: str, **how: Any) -> Response:
        return await self.handler.download_request(Request(url, **how))


def browsers_of(pid: int | None = None) -> list[psutil.Process]:
    """The browsers below a process, each of which has many more."""
    return [each for each in _below(pid) if "--type=" not in " ".join(_command(each))]


def renderers_of(pid: int | None = None) -> list[psutil.Process]:
    return [each for each in _below(pid) if "--type=renderer" in _command(each)]


def driver_of(browser: psutil.Process) -> psutil.Process:
    parent = browser.parent()
    assert parent is not None
    return parent


def drivers_of(pid: int | None = None) -> list[psutil.Process]:
    """The drivers below a process, also those that have no browser yet."""
    children = psutil.Process(pid).children(recursive=True)
    return [each for each in children if "run-driver" in _command(each)]


def _below(pid: int | None) -> list[psutil.Process]:
    try:
        children = psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    return [
        each
        for each in children
        if "--remote-debugging-pipe" in _command(each) or ("--type=renderer" in _command(each))
    ]


def _command(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except psutil.NoSuchProcess:
        return []


def is_alive(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
