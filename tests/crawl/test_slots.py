"""Requests that choose a download slot share its queue and its budget, whatever their hosts are and
whichever worker sends them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from crawling import crawl
from delays import gaps_s
from slotting import Slotted, Wandering

from launchers.redis import RedisServer
from running import Weft
from weft.testing import Hit, Site, SiteServer

HOSTS = ("127.0.0.1", "127.0.0.2", "127.0.0.3")
DELAY_S = 0.3
LATENCY_S = 0.1
#: Each request can be delayed by this much between being sent and being logged.
TOLERANCE_S = 0.08


@pytest.fixture(params=["embedded", "shared"])
def store(request: pytest.FixtureRequest) -> dict[str, Any]:
    if request.param == "embedded":
        return {}
    return {"WEFT_STORE": request.getfixturevalue("redis_server").url}


def of_slot(hits: Sequence[Hit], slot: str) -> list[Hit]:
    return [hit for hit in hits if hit.path.startswith(f"/echo?{slot}-")]


def test_a_slot_has_one_delay_for_all_its_hosts(tmp_path: Path, store: dict[str, Any]) -> None:
    settings = {"DOWNLOAD_SLOTS": {"slow": {"delay": DELAY_S, "randomize_delay": False}}} | store
    with SiteServer(Site(hosts=HOSTS)) as site:
        sites = [site.url_of(host) for host in HOSTS]
        done = crawl(tmp_path, Slotted, settings, sites=sites, slots=["slow", None])
        hits = site.hits()
    slow, other = of_slot(hits, "slow"), of_slot(hits, "None")
    assert len(slow) == len(other) == 6
    assert min(gaps_s(slow)) >= DELAY_S - TOLERANCE_S
    assert min(gaps_s(other)) < DELAY_S - TOLERANCE_S
    assert {hit.host for hit in slow} == {*HOSTS}
    slots = [item["slot"] for item in done.items if "None" not in item["url"]]
    assert slots == ["slow"] * 6
    assert {item["slot"] for item in done.items if "None" in item["url"]} == {*HOSTS}


def test_slots_of_one_host_have_their_own_limits(tmp_path: Path, store: dict[str, Any]) -> None:
    """As the budget of a host, those of its slots are independent of each other."""
    limits = {"one": {"concurrency": 1}, "two": {"concurrency": 2}}
    settings = {"DOWNLOAD_SLOTS": limits, "CONCURRENT_REQUESTS_PER_DOMAIN": 1} | store
    with SiteServer(Site(hosts=HOSTS, latency_s=LATENCY_S)) as site:
        sites = [site.url_of(host) for host in HOSTS]
        crawl(tmp_path, Slotted, settings, sites=sites, slots=["one", "two"])
        hits = site.hits()
    one, two = of_slot(hits, "one"), of_slot(hits, "two")
    assert len(one) == len(two) == 6
    assert min(gaps_s(one)) >= LATENCY_S - 0.01
    # Of three in a row, the last begins when the first has ended.
    assert min(last.at_s - first.at_s for first, last in zip(two, two[2:], strict=False)) >= (
        LATENCY_S - 0.01
    )


@pytest.mark.parametrize("host_key", ["domain", "ip"])
def test_a_slot_is_a_host_key_whatever_those_are(
    tmp_path: Path, store: dict[str, Any], host_key: str
) -> None:
    limits = {"slow": {"delay": DELAY_S}}
    settings = {"DOWNLOAD_SLOTS": limits, "WEFT_HOST_KEY": host_key} | store
    with SiteServer(Site(hosts=HOSTS)) as site:
        sites = [site.url_of(host) for host in HOSTS[:2]]
        crawl(tmp_path, Slotted, settings, sites=sites, slots=["slow", None])
        hits = site.hits()
    assert len(hits) == 8
    assert min(gaps_s(of_slot(hits, "slow"))) >= DELAY_S - TOLERANCE_S


def test_retries_redirects_and_copies_keep_a_slot_that_was_chosen(
    tmp_path: Path, store: dict[str, Any]
) -> None:
    with SiteServer(Site(pages=4, hosts=HOSTS, flaky_every=2)) as site:
        sites = [site.url_of(host) for host in HOSTS[:2]]
        done = crawl(tmp_path, Wandering, store, sites=sites, slots=["mine"])
        retried = [hit.status for hit in site.hits() if hit.path == "/p/2.html"]
    assert retried == [500, 200]
    assert [item["slot"] for item in done.items] == ["mine"] * 4


def test_the_slot_of_a_host_does_not_stick_to_other_hosts(
    tmp_path: Path, store: dict[str, Any]
) -> None:
    with SiteServer(Site(pages=4, hosts=HOSTS, flaky_every=2)) as site:
        sites = [site.url_of(host) for host in HOSTS[:2]]
        done = crawl(tmp_path, Wandering, store, sites=sites, slots=[None])
    assert len(done.items) == 4
    assert all(item["slot"] == item["url"].split("/")[2].split(":")[0] for item in done.items)


SHARED = """
import asyncio
import os
import scrapy

class Spider(scrapy.Spider):
    name = "shared"

    async def start(self):
        for site in self.sites.split(","):
            yield scrapy.Request(site)

    async def parse(self, response):
        # Both are in the slot: what the frontier hands out, and what is sent beside it.
        for number in range(2):
            url = response.urljoin(f"/echo?claim-{number}")
            yield scrapy.Request(url, self.parse_claim, meta={"download_slot": "slow"})
        side = scrapy.Request(response.urljoin("/echo?side-0"), meta={"download_slot": "slow"})
        answer = await self.crawler.engine.download_async(side)
        yield {"url": answer.url, "pid": os.getpid()}

    def parse_claim(self, response):
        yield {"url": response.url, "pid": os.getpid()}
"""


def test_workers_keep_the_delay_of_a_slot_together(
    weft: Weft, tmp_path: Path, redis_server: RedisServer
) -> None:
    (tmp_path / "shared.py").write_text(SHARED)
    slots = {"slow": {"delay": DELAY_S}}
    with SiteServer(Site(hosts=HOSTS)) as site:
        sites = ",".join(site.url_of(host) for host in HOSTS)
        command = ("crawl", "shared.py", "-a", f"sites={sites}", "-o", "out.jsonl")
        done = weft(
            *(*command, "--workers", "2", "--store", redis_server.url),
            *("-s", f"DOWNLOAD_SLOTS={json.dumps(slots)}", "-s", "ROBOTSTXT_OBEY=False"),
        )
        hits = [hit for hit in site.hits() if hit.path.startswith("/echo")]
    assert done.returncode == 0, done.stderr
    items = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert len(items) == len(hits) == 9
    assert min(gaps_s(hits)) >= DELAY_S - TOLERANCE_S, hits


def test_a_url_in_a_slot_is_explained(
    weft: Weft, tmp_path: Path, redis_server: RedisServer
) -> None:
    with SiteServer(Site(hosts=HOSTS)) as site:
        settings = {"WEFT_STORE": redis_server.url, "WEFT_JOB": "slotted"}
        crawl(tmp_path, Slotted, settings, sites=[site.url_of(HOSTS[0])], slots=["slow"])
        url = f"{site.url_of(HOSTS[0])}echo?slow-0"
        told = weft("frontier", "explain", url, "--job", "slotted", "--store", redis_server.url)
    assert told.returncode == 0, told.stderr
    assert "status 200" in told.stdout
