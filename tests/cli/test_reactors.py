"""Weft runs on asyncio, with or without a reactor, and says so where it cannot."""

import json
import re
from pathlib import Path

import pytest

from launchers.redis import RedisServer
from running import Python, Weft
from weft.testing import SiteServer

SPIDER = """
import scrapy

class Spider(scrapy.Spider):
    name = "links"

    async def start(self):
        yield scrapy.Request(self.site)

    def parse(self, response):
        yield {"url": response.url}
        yield from response.follow_all(css="a")
"""
ADDON = ("-s", 'ADDONS={"weft.Addon": 500}')
NO_REACTOR = ("-s", "TWISTED_REACTOR_ENABLED=False")
SELECT = "twisted.internet.selectreactor.SelectReactor"
CURE = (
    "set TWISTED_REACTOR to 'twisted.internet.asyncioreactor.AsyncioSelectorReactor', which is "
    "Scrapy's default, or remove TWISTED_REACTOR from the settings"
)


@pytest.fixture
def scrapy(tmp_path: Path) -> Python:
    (tmp_path / "links.py").write_text(SPIDER)
    return Python(tmp_path, "-m", "scrapy", "runspider", "links.py")


@pytest.mark.parametrize("is_shared", [False, True])
def test_a_crawl_needs_no_reactor(
    scrapy: Python, weft: Weft, site: SiteServer, redis_server: RedisServer, is_shared: bool
) -> None:
    more = ("-s", f"WEFT_STORE={redis_server.url}") if is_shared else ()
    done = scrapy(*ADDON, *NO_REACTOR, "-a", f"site={site.url}", "-O", "feed.jsonl", *more)
    assert done.returncode == 0, done.stderr
    for nothing in ("Traceback", "ERROR", "WARNING"):
        assert nothing not in done.stderr
    assert "Not using a Twisted reactor" in done.stderr
    items = [json.loads(line) for line in (weft.directory / "feed.jsonl").read_text().splitlines()]
    assert sorted(item["url"] for item in items) == sorted(site.page_urls())


def test_workers_need_no_reactor(scrapy: Python, weft: Weft, site: SiteServer) -> None:
    done = weft(
        *("crawl", "links.py", "-a", f"site={site.url}", *NO_REACTOR, "--workers", "2"),
        *("-o", "items.jsonl"),
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert len((weft.directory / "items.jsonl").read_text().splitlines()) > 1


@pytest.mark.parametrize("reactor", [SELECT, ""])
def test_another_reactor_is_refused_by_scrapy_crawl(
    scrapy: Python, site: SiteServer, reactor: str
) -> None:
    """Without a name it is the one that Twisted chooses for this system."""
    done = scrapy(*ADDON, "-s", f"TWISTED_REACTOR={reactor}", "-a", f"site={site.url}")
    assert done.returncode != 0
    [line] = [line for line in done.stderr.splitlines() if "ERROR" in line]
    assert re.search(r"Weft needs the asyncio reactor and cannot run on \w+Reactor; ", line)
    assert line.endswith(CURE)
    assert "Traceback" not in done.stderr
    assert site.hits() == []


@pytest.mark.parametrize("more", [(), ("--workers", "2")])
def test_another_reactor_is_refused_by_weft_crawl(
    scrapy: Python, weft: Weft, site: SiteServer, more: tuple[str, ...]
) -> None:
    option = f"TWISTED_REACTOR={SELECT}"
    done = weft("crawl", "links.py", "-a", f"site={site.url}", "-s", option, *more)
    assert done.returncode != 0
    [line] = done.stderr.splitlines()
    assert line == f"weft: Weft needs the asyncio reactor and cannot run on {SELECT}; {CURE}"
    assert site.hits() == []
