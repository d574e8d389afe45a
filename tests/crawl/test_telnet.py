"""Scrapy's telnet console tells the truth about a crawl on Weft."""

import asyncio
import re
from pathlib import Path
from typing import Any

from beside import assert_same, crawl_beside
from crawling import crawl
from scrapy import Request
from scrapy.extensions.telnet import TelnetConsole
from scrapy.http import Response
from scrapy.utils.engine import format_engine_status, get_engine_status
from walking import Fetcher

from weft.testing import SiteServer, until

PAGES = 5


class Looking(Fetcher):
    """Looks at the status, as `est()` does, until all of its pages wait."""

    name = "looking"

    async def start(self) -> Any:
        self.crawler.engine.pause()
        for url in self.urls:
            yield Request(url)
        await until(lambda: self.waiting() == PAGES, "all pages wait")
        yield {"url": "", "status": format_engine_status(self.crawler.engine)}
        self.crawler.engine.unpause()

    def waiting(self) -> int:
        status = dict(get_engine_status(self.crawler.engine))
        queues = ("len(engine.scheduler.dqs or [])", "len(engine.scheduler.mqs)")
        return sum(int(status[name]) for name in queues)


def test_the_status_of_the_engine_counts_what_waits(site: SiteServer, tmp_path: Path) -> None:
    done = crawl(tmp_path, Looking, urls=[f"{site.url}p/{n}.html" for n in range(1, PAGES + 1)])
    assert done.reason == "finished", done.log
    [status] = [item["status"] for item in done.items if not item["url"]]
    assert "exception" not in status
    assert len(done.items) == PAGES + 1


# A command of the protocol: to offer or demand something. The answer is to agree.
_COMMAND = re.compile(rb"\xff([\xfb-\xfe])(.)", re.DOTALL)
_AGREE = {b"\xfb": b"\xfd", b"\xfc": b"\xfe", b"\xfd": b"\xfb", b"\xfe": b"\xfc"}
_CURSOR = re.compile(rb"\x1b(?:\[[\d;?]*)?[A-Za-z]")


class Terminal:
    """What a user has: says something, and reads what comes back."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def say(self, line: str, until: str) -> str:
        """Returns what comes before `until`."""
        self._writer.write(f"{line}\r\n".encode() if line else b"")
        told = b""
        while until.encode() not in told:
            data = await asyncio.wait_for(self._reader.read(65536), timeout=20)
            assert data, told
            for command, option in _COMMAND.findall(data):
                self._writer.write(b"\xff" + _AGREE[command] + option)
            told = _CURSOR.sub(b"", told + _COMMAND.sub(b"", data))
        return told.decode("latin-1")


class Calling(Fetcher):
    """Calls its own console, as a user would, while a page of it is being scraped."""

    name = "calling"

    async def parse(self, response: Response, **kwargs: Any) -> Any:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port())
        terminal = Terminal(reader, writer)
        await terminal.say("", "Username: ")
        await terminal.say("scrapy", "Password: ")
        await terminal.say("secret", ">>> ")
        status = await terminal.say("est()", ">>> ")
        live = await terminal.say("prefs()", ">>> ")
        value = await terminal.say("p(settings['BOT_NAME'])", ">>> ")
        writer.close()
        yield {
            "status": re.findall(r"^(\S+(?: \S+)*) +: (\w+)\r", status, re.MULTILINE),
            "live": re.findall(r"^(\w+) +(\d+) +oldest", live, re.MULTILINE),
            "value": re.findall(r"^'\w+'", value, re.MULTILINE),
        }

    def port(self) -> int:
        console: Any = self.crawler.get_extension(TelnetConsole)
        return int(console.port.getHost().port)


def test_the_console_answers_on_a_connection(site: SiteServer, tmp_path: Path) -> None:
    settings = {
        "TELNETCONSOLE_ENABLED": True,
        "TELNETCONSOLE_PORT": [0],
        "TELNETCONSOLE_PASSWORD": "secret",
    }
    plain, with_weft = crawl_beside(tmp_path, Calling, settings, urls=[site.url])
    assert_same(plain, with_weft, [1])
    [told] = with_weft[0].items
    assert ["len(engine._slot.inprogress)", "1"] in told["status"]
    assert told["live"] == [["Calling", "1"], ["HtmlResponse", "1"], ["Request", "1"]]
    assert told["value"] == ["'scrapybot'"]
