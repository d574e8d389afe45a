"""`weft stats`, as a user meets it; and what is counted there."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from launchers.redis import RedisServer
from running import Weft
from weft.frontier import RocksFrontier
from weft.records import Ending
from weft.testing import Site, SiteServer
from weft.testing.clock import FakeClock
from weft.testing.frontier_contract import done, requests

HOUR_MS = 3_600_000
#: In a place where the clock is two and a half hours ahead, the third hour is on the next day.
START_MS = round(datetime(2026, 3, 1, 20, 10, tzinfo=UTC).timestamp() * 1000)

SPIDER = """
import scrapy
from scrapy.exceptions import DropItem

class NoOdd:
    def process_item(self, item):
        if item["n"] % 2:
            raise DropItem("odd")
        return item

class S(scrapy.Spider):
    name = "s"
    custom_settings = {"ITEM_PIPELINES": {NoOdd: 1}, "RETRY_ENABLED": False}

    async def start(self):
        yield scrapy.Request(self.url)

    def parse(self, response):
        yield from ({"n": n} for n in range(3))
        yield from response.follow_all(css="a")
        if response.url.endswith("/"):
            for path in ("/status/500", "/broken/header"):
                yield response.follow(path, errback=self.failed)

    def failed(self, failure):
        yield {"n": 0}
"""


async def crawl_for_hours(path: Path) -> None:
    """Two pages with an item each, and a failure, in each of three hours; ten minutes each."""
    clock = FakeClock(START_MS)
    async with RocksFrontier(path, clock=clock) as frontier:
        await frontier.add(requests(9))
        for hour in range(3):
            one, two, bad = (await frontier.claim("me", 3)).claims
            await frontier.finish(done([one], items=1))
            clock.advance(600_000)
            await frontier.finish([*done([two], items=1), *done([bad], ending=Ending.FAILED)])
            clock.advance(HOUR_MS - 600_000 + hour)


@pytest.fixture
async def _crawled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "XXX-2:30")
    await crawl_for_hours(tmp_path / ".weft/shop/frontier")


@pytest.mark.usefixtures("_crawled")
def test_days_are_added_up_in_local_time(weft: Weft) -> None:
    ended = weft("stats")
    assert ended.returncode == 0, ended.stderr
    rows = [line.split() for line in ended.stdout.splitlines() if line.strip()]
    assert rows[0] == ["day", "pages", "items", "failed", "pages/s"]
    assert rows[2:] == [
        ["2026-03-01", "UTC+02:30", "4", "4", "2", "0.00"],
        ["2026-03-02", "UTC+02:30", "2", "2", "1", "0.00"],
        ["total", "6", "6", "3", "0.00"],
    ]


@pytest.mark.usefixtures("_crawled")
def test_the_last_hours_are_told_to_programs(weft: Weft) -> None:
    told = json.loads(weft("stats", "--by", "hour", "--last", "2", "--json").stdout)
    hour = {"pages": 2, "items": 2, "failed": 1, "pages_per_s": 0.003}
    assert told == {
        "by": "hour",
        "periods": [
            {"start": "2026-03-01T23:30+02:30"} | hour,
            {"start": "2026-03-02T00:30+02:30"} | hour,
        ],
        "total": {
            "start": "2026-03-01T23:30+02:30",
            "pages": 4,
            "items": 4,
            "failed": 2,
            "pages_per_s": 0.003,
        },
    }


async def test_a_job_that_finished_nothing_says_so(weft: Weft, tmp_path: Path) -> None:
    assert "there is no job in" in weft("stats").stderr
    async with RocksFrontier(tmp_path / ".weft/shop/frontier"):
        pass
    assert weft("stats").stdout == "Nothing has been finished yet: .weft/shop.\n"
    told = json.loads(weft("stats", "--json").stdout)
    assert told == {"by": "day", "periods": [], "total": None}


@pytest.mark.parametrize("is_shared", [False, True])
def test_pages_count_with_the_items_that_went_to_the_sinks(
    weft: Weft, tmp_path: Path, redis_server: RedisServer, is_shared: bool
) -> None:
    (tmp_path / "s.py").write_text(SPIDER)
    store = ("--store", redis_server.url) if is_shared else ()
    with SiteServer(Site(pages=12)) as server:
        ended = weft("crawl", "s.py", "-a", f"url={server.url}", "--job", "s", *store)
        assert ended.returncode == 0, ended.stderr
    total = json.loads(weft("stats", "--json", *store).stdout)["total"]
    # Two of three items of each page passed the pipeline, and both errbacks gave one.
    assert (total["pages"], total["items"], total["failed"]) == (12, 2 * 12 + 2, 2)
    items = weft("items", *(("--job", "s")), "--format", "jsonl")
    assert len(items.stdout.splitlines()) == 26
