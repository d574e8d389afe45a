"""Side requests (robots.txt, media files, what callbacks send inline) keep the budget of their host
together with all other requests, whichever worker sends them."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from crawling import paths

from launchers.redis import RedisServer
from running import Process, Weft
from weft.testing import Hit, Site, SiteServer
from weft.testing.waiting import wait_until

#: Pages are here, and what belongs to all of them is there. There are two buckets, one for each
#: worker, and each of them has some of the hosts.
PAGE_HOSTS = tuple(f"127.0.0.{number}" for number in range(1, 5))
SIDE_HOST = "127.0.0.9"
HOSTS = (*PAGE_HOSTS, SIDE_HOST)
LATENCY_S = 0.1
DELAY_S = 0.2
#: Each request can be delayed by this much between being sent and being logged.
TOLERANCE_S = 0.08

# For each page, a side request of its worker. What becomes of it goes into the item.
SPIDER = """
import asyncio
import os
import scrapy

class Spider(scrapy.Spider):
    name = "sides"
    custom_settings = SETTINGS

    async def start(self):
        while not os.path.exists("go"):
            await asyncio.sleep(0.02)
        for url in self.starts.split(","):
            yield scrapy.Request(url)

    async def parse(self, response):
        own = f"/echo?{os.getpid()}-{response.url.split('//')[1].replace(':', '-')}"
        side = self.side.rstrip("/")
        item = {"url": response.url, "pid": os.getpid()}
        if self.kind == "inline":
            for path in self.paths.split(","):
                answer = await self.crawler.engine.download_async(
                    scrapy.Request(side + path.replace("OWN", own), dont_filter=True)
                )
                item["status"] = answer.status
        else:
            item["file_urls"] = [side + own]
        yield item
        for request in response.follow_all(css="a"):
            yield request
"""

Command = tuple[str, ...]


def sides(
    directory: Path,
    site: SiteServer,
    *,
    slot: dict[str, Any],
    kind: str = "inline",
    paths: str = "OWN",
    starts: Sequence[str] = PAGE_HOSTS,
    **settings: Any,
) -> Command:
    """The command that crawls with the spider."""
    settings = {
        "ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1},
        "FILES_STORE": "files",
        "WEFT_LEASE_TIMEOUT": 2,
        "WEFT_BUCKETS": 2,
        "WEFT_WEIGHT": 1,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 2,
        "DOWNLOAD_SLOTS": {SIDE_HOST: slot},
        "ROBOTSTXT_OBEY": False,
    } | settings
    (directory / "sides.py").write_text(SPIDER.replace("SETTINGS", repr(settings)))
    given = {
        "starts": ",".join(site.url_of(host) for host in starts),
        "side": site.url_of(SIDE_HOST),
        "kind": kind,
        "paths": paths,
    }
    named = [option for name, value in given.items() for option in ("-a", f"{name}={value}")]
    return ("crawl", "sides.py", *named, "-o", "out.jsonl", "--job", "sides")


def at_side_host(hits: Sequence[Hit]) -> list[Hit]:
    return [hit for hit in hits if hit.host == SIDE_HOST]


def check_delay(hits: Sequence[Hit], delay_s: float) -> None:
    early = [
        (round(later.at_s - earlier.at_s, 3), earlier, later)
        for earlier, later in pairwise(hits)
        if later.at_s - earlier.at_s < delay_s - TOLERANCE_S
    ]
    assert not early, f"{len(early)} of {len(hits)} requests came too early, such as {early[:3]}"


def check_concurrency(hits: Sequence[Hit], concurrency: int) -> None:
    """Each is under way for the time of its latency; timers may be a little early."""
    crowds = [
        (first, last)
        for first, last in zip(hits, hits[concurrency:], strict=False)
        if last.at_s - first.at_s < LATENCY_S - 0.01
    ]
    assert not crowds, f"{len(crowds)} of {len(hits)} requests were too many, such as {crowds[0]}"


def senders(hits: Sequence[Hit]) -> Counter[str]:
    """How many side requests came from which process."""
    return Counter(hit.path[6:].split("-")[0] for hit in hits if hit.path.startswith("/echo?"))


def check_items(directory: Path, wanted: set[str]) -> None:
    items = [json.loads(line) for line in (directory / "out.jsonl").read_text().splitlines()]
    assert {item["url"] for item in items} == wanted
    assert len(items) == len(wanted)
    for item in items:
        assert item.get("status") == 200 or len(item["files"]) == 1, item


@contextmanager
def two_workers(weft: Weft, command: Command, server: RedisServer) -> Iterator[list[Process]]:
    """They start when each has its bucket."""

    def holders() -> set[str]:
        leases = (server.ask("HKEYS", f"weft:{{sides:b{bucket}}}:lease") for bucket in range(2))
        return {holder for held in leases for holder in held}

    processes = [weft.start(*command, "--store", server.url) for _ in range(2)]
    try:
        wait_until(lambda: len(holders()) == 2, "each worker has a bucket", timeout_s=60)
        (weft.directory / "go").touch()
        yield processes
    finally:
        for process in processes:
            process.kill()
            _, log = process.communicate()
            print(log)  # for a test that fails


def crawl_alone(weft: Weft, command: Command) -> None:
    (weft.directory / "go").touch()
    ended(weft.start(*command))


def ended(process: Process) -> None:
    _, log = process.communicate(timeout=90)
    assert process.returncode == 0, log
    assert "Traceback" not in log, log


@pytest.fixture
def site() -> Iterator[SiteServer]:
    latency_s = {SIDE_HOST: LATENCY_S}
    with SiteServer(Site(pages=5, links=5, hosts=HOSTS, latency_s=latency_s)) as server:
        yield server


def pages_of(site: SiteServer, hosts: Sequence[str]) -> set[str]:
    return set().union(*(site.page_urls(host) for host in hosts))


# Several workers


@pytest.mark.parametrize(
    ("kind", "starts"),
    [
        ("inline", HOSTS),
        ("files", PAGE_HOSTS),
        pytest.param("inline", PAGE_HOSTS, marks=pytest.mark.long),
        pytest.param("files", HOSTS, marks=pytest.mark.long),
    ],
)
def test_workers_keep_the_delay_of_a_host_together(
    weft: Weft,
    tmp_path: Path,
    site: SiteServer,
    redis_server: RedisServer,
    kind: str,
    starts: Sequence[str],
) -> None:
    slot = {"delay": DELAY_S}
    command = sides(tmp_path, site, slot=slot, kind=kind, starts=starts)
    with two_workers(weft, command, redis_server) as workers:
        for worker in workers:
            ended(worker)
    hits = at_side_host(site.hits())
    check_delay(hits, DELAY_S)
    assert len(senders(hits)) == 2
    assert hits[-1].at_s - hits[0].at_s < 2 * DELAY_S * len(hits)
    check_items(tmp_path, pages_of(site, starts))


@pytest.mark.parametrize(
    ("kind", "concurrency", "starts"),
    [
        ("inline", 3, HOSTS),
        ("files", 1, HOSTS),
        pytest.param("inline", 1, PAGE_HOSTS, marks=pytest.mark.long),
        pytest.param("files", 3, PAGE_HOSTS, marks=pytest.mark.long),
    ],
)
def test_workers_keep_the_concurrency_of_a_host_together(
    weft: Weft,
    tmp_path: Path,
    site: SiteServer,
    redis_server: RedisServer,
    kind: str,
    concurrency: int,
    starts: Sequence[str],
) -> None:
    slot = {"concurrency": concurrency}
    command = sides(tmp_path, site, slot=slot, kind=kind, starts=starts)
    with two_workers(weft, command, redis_server) as workers:
        for worker in workers:
            ended(worker)
    hits = at_side_host(site.hits())
    check_concurrency(hits, concurrency)
    assert len(senders(hits)) == 2
    check_items(tmp_path, pages_of(site, starts))


@pytest.mark.parametrize(
    "slot", [{"delay": DELAY_S}, pytest.param({"concurrency": 1}, marks=pytest.mark.long)]
)
def test_a_worker_that_is_killed_does_not_keep_others_from_a_host(
    weft: Weft, tmp_path: Path, site: SiteServer, redis_server: RedisServer, slot: dict[str, Any]
) -> None:
    command = sides(tmp_path, site, slot=slot, starts=HOSTS)
    with two_workers(weft, command, redis_server) as workers:
        wait_until(lambda: len(senders(site.hits())) == 2, "both have sent something")
        [*_, last] = at_side_host(site.hits())
        workers[0].kill()
        ended(workers[1])
    hits = at_side_host(site.hits())
    check_delay(hits, slot.get("delay", 0))
    check_items(tmp_path, pages_of(site, HOSTS))
    times_s = [hit.at_s for hit in hits if hit.at_s >= last.at_s]
    # The lease of the one that died is two seconds.
    assert max(later - earlier for earlier, later in pairwise(times_s)) < 6


def test_a_pause_that_a_host_asks_for_is_kept_by_all_workers(
    weft: Weft, tmp_path: Path, redis_server: RedisServer
) -> None:
    with SiteServer(Site(pages=4, hosts=HOSTS, latency_s=LATENCY_S, busy_every=2)) as busy:
        command = sides(tmp_path, busy, slot={"concurrency": 1}, paths="/p/2.html,OWN")
        with two_workers(weft, command, redis_server) as workers:
            for worker in workers:
                ended(worker)
        hits = at_side_host(busy.hits())
        check_items(tmp_path, pages_of(busy, PAGE_HOSTS))
    refused = [i for i, hit in enumerate(hits) if hit.status == 429]
    assert len(refused) == 1
    [first] = refused
    assert hits[first + 1].at_s - hits[first].at_s >= 1 - TOLERANCE_S
    assert len(senders(hits)) == 2


@pytest.mark.long
def test_workers_that_share_the_pages_of_a_host_keep_its_concurrency(
    weft: Weft, tmp_path: Path, site: SiteServer, redis_server: RedisServer
) -> None:
    slot = {"concurrency": 3}
    command = sides(tmp_path, site, slot=slot, starts=[SIDE_HOST], WEFT_WORKERS_PER_HOST=2)
    with two_workers(weft, command, redis_server) as workers:
        for worker in workers:
            ended(worker)
    check_concurrency(at_side_host(site.hits()), 3)
    check_items(tmp_path, pages_of(site, [SIDE_HOST]))


# One


def test_claims_and_side_requests_share_the_concurrency_of_their_host(
    weft: Weft, tmp_path: Path, site: SiteServer
) -> None:
    command = sides(tmp_path, site, slot={"concurrency": 3}, starts=[SIDE_HOST])
    crawl_alone(weft, command)
    hits = at_side_host(site.hits())
    check_concurrency(hits, 3)
    check_items(tmp_path, pages_of(site, [SIDE_HOST]))


@pytest.mark.parametrize("slot", [{"concurrency": 1}, {"delay": DELAY_S, "concurrency": 1}])
def test_a_claim_that_waits_for_its_own_side_requests_does_not_wait_for_ever(
    weft: Weft, tmp_path: Path, site: SiteServer, slot: dict[str, Any]
) -> None:
    command = sides(
        tmp_path, site, slot=slot, starts=[SIDE_HOST], paths="/r/1,OWN", ROBOTSTXT_OBEY=True
    )
    crawl_alone(weft, command)
    hits = at_side_host(site.hits())
    check_concurrency(hits, 1)
    check_delay(hits, slot.get("delay", 0))
    assert paths(hits)[:2] == ["/robots.txt", "/"]
    check_items(tmp_path, pages_of(site, [SIDE_HOST]))


def test_a_pause_that_a_side_request_is_asked_for_holds_for_pages(
    weft: Weft, tmp_path: Path
) -> None:
    latency_s = 0.05
    with SiteServer(Site(pages=8, hosts=HOSTS, latency_s=latency_s, busy_every=7)) as busy:
        command = sides(
            tmp_path, busy, slot={"concurrency": 1}, starts=[SIDE_HOST], paths="/p/7.html"
        )
        crawl_alone(weft, command)
        hits = at_side_host(busy.hits())
        check_items(tmp_path, pages_of(busy, [SIDE_HOST]))
    assert [hit.status for hit in hits[:3]] == [200, 429, 200]
    assert hits[2].at_s - hits[1].at_s >= 1 - TOLERANCE_S
