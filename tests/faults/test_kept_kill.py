"""A crawl whose requests cannot be packed is killed again and again, and gives every item once."""

import json
import random
import signal
from collections import Counter
from pathlib import Path

import pytest

from effort import times
from launchers.redis import RedisServer
from running import Weft
from weft.testing import Site, SiteServer

KILLS = times(5, 20)
SITE = Site(pages=times(60, 250), links=8, redirects_every=9, flaky_every=20, latency_s=0.1)

# A page brings kept requests, and those bring more.
SPIDER = """
import scrapy

class KilledSpider(scrapy.Spider):
    name = "killed"
    custom_settings = {"ROBOTSTXT_OBEY": False, "WEFT_LEASE_TIMEOUT": 2, "RETRY_TIMES": 1}

    async def start(self):
        yield scrapy.Request(self.url, callback=lambda response: self.parse(response))

    def parse(self, response):
        yield {"url": response.url}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, callback=self.parse)
        first = lambda response: self.parse_part(response, 1)
        yield scrapy.Request(f"{self.url}echo?{response.url}", callback=first)

    def parse_part(self, response, number):
        yield {"url": response.url}
        if number < 3:
            more = lambda response: self.parse_part(response, number + 1)
            yield scrapy.Request(f"{response.url}+", callback=more)
"""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("has_redis", [False, True], ids=["embedded", "two workers"])
def test_every_item_comes_once_however_often_it_is_killed(
    weft: Weft, tmp_path: Path, rng: random.Random, redis_server: RedisServer, *, has_redis: bool
) -> None:
    (tmp_path / "killed.py").write_text(SPIDER)
    shared = ("--store", redis_server.url, "--workers", "2") if has_redis else ()
    with SiteServer(SITE) as server:
        command = ("crawl", "killed.py", "-a", f"url={server.url}", "-o", "out.jsonl", *shared)
        kills = 0
        while kills < KILLS:
            ended = weft.interrupt_after(rng.uniform(0.6, 1.8), signal.SIGKILL, *command)
            if ended.returncode == 0:
                break
            kills += 1
        print(f"killed {kills} times")
        last = weft(*command)
        assert last.returncode == 0, last.stderr
        wanted = {
            url
            for page in server.page_urls()
            for url in (page, *(f"{server.url}echo?{page}{'+' * n}" for n in range(3)))
        }
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    items = Counter(json.loads(line)["url"] for line in lines)
    assert items == dict.fromkeys(wanted, 1)
