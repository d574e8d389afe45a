"""An ordinary Scrapy project gives the same items, statistics and log with Weft as without."""

import ast
import json
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

import nursery
from weft.engine.scrapy.scrapyparts import ScrapyPart
from weft.records import Stats
from weft.testing import Site, SiteServer

PROJECT = Path(__file__).parent / "project"
WITH_WEFT = ("-s", 'ADDONS={"weft.Addon": 500}')
WITH_SCRAPYS_PARTS = ("-s", f"WEFT_SCRAPY_PARTS={','.join(ScrapyPart)}")

#: How many items each spider must yield: two crawls that find nothing would be equal.
SPIDERS = {
    "catalogue": 90,
    "details": 19,
    "errors": 10,
    "feed": 59,
    "members": 6,
    "modern": 13,
    "pages": 29,
    "sitemap": 28,
}


#: Statistics that only one of the two may have.
IN_DOUBT = frozenset(
    # What Weft reports in addition.
    {f"frontier/{name}" for name in Stats.__struct_fields__}
    | {"frontier/late", "sinks/items"}
    # Scrapy's queue in memory; Weft has one queue, the frontier.
    | {"scheduler/enqueued/memory", "scheduler/dequeued/memory"}
    # Who fills tldextract's cache logs that; the warnings of Scrapy are compared as lines.
    | {"log_count/WARNING"}
)

#: Statistics that both have, but whose values may differ, and why. All others must be equal.
MAY_DIFFER = {
    "elapsed_time_seconds": "how long it takes",
    "items_per_minute": "how long it takes",
    "responses_per_minute": "how long it takes",
    "memusage/max": "how much is loaded",
    "memusage/startup": "how much is loaded",
    "log_count/DEBUG": "Scrapy logs the first duplicate; the frontier counts them",
    "log_count/INFO": "Scrapy's remote control, which is off, says that it is on",
}
#: The same for spiders that follow all links: by the order of requests, a page may be found on
#: another page first.
BY_ORDER = {
    "downloader/request_bytes": "the length of the Referer",
    "request_depth_max": "the depth of that page",
}
FOLLOWERS = ("catalogue", "pages")


@pytest.fixture(scope="module")
def site() -> Iterator[SiteServer]:
    robots = "User-agent: *\nDisallow: /p/7.html\n"
    with SiteServer(Site(pages=30, links=6, redirects_every=6, robots=robots)) as server:
        yield server


@pytest.fixture(scope="module")
def closed_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_crawl(directory: Path, spider: str, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "scrapy", "crawl", spider, "-O", "feed.jsonl", *options]
    return nursery.Popen(
        command, cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )


@dataclass(frozen=True)
class Done:
    """The result of a crawl."""

    #: What Scrapy's own feed export wrote.
    items: Counter[str]
    stats: dict[str, object]
    #: The lines about pages and items, and all warnings and errors.
    log: Counter[str]


def wait_for(directory: Path, crawl: subprocess.Popen[str]) -> Done:
    _, log = crawl.communicate(timeout=60)
    assert crawl.returncode == 0, log
    assert "spider_exceptions" not in log, log
    lines = (directory / "feed.jsonl").read_text().splitlines()
    items = Counter(canonical(line) for line in lines)
    return Done(items, read_stats(log), log_lines(log))


def read_stats(log: str) -> dict[str, object]:
    [text] = re.findall(r"Dumping Scrapy stats:\n(\{.*?\})$", log, re.DOTALL | re.MULTILINE)
    stats: dict[str, object] = ast.literal_eval(
        re.sub(r"datetime\.datetime\(.*?\)(?=[,}])", "0", text, flags=re.DOTALL)
    )
    return stats


def comparable(stats: dict[str, object], spider: str) -> dict[str, object]:
    reasons = MAY_DIFFER | (BY_ORDER if spider in FOLLOWERS else {})
    return {name: reasons.get(name, stats[name]) for name in stats if name not in IN_DOUBT}


def log_lines(log: str) -> Counter[str]:
    """Which of two links to a page is found first, and where, differs from run to run."""
    told = re.findall(r"^\S+ \S+ (\[scrapy\S+\] (?:WARNING|ERROR|DEBUG): .*)$", log, re.MULTILINE)
    return Counter(
        re.sub(r"#top|\(referer: .*\)", "", line)
        for line in told
        if re.search(r"Crawled|Scraped|WARNING|ERROR", line)
    )


def stored_items(job_dir: Path) -> Counter[str]:
    with closing(sqlite3.connect(job_dir / "items.db")) as database:
        return Counter(canonical(item) for (item,) in database.execute("SELECT item FROM items"))


def canonical(line: str) -> str:
    return json.dumps(json.loads(line), sort_keys=True)


@pytest.mark.parametrize("spider", SPIDERS)
def test_a_spider_gives_the_same_with_weft(
    spider: str, site: SiteServer, closed_port: int, tmp_path: Path
) -> None:
    arguments = ["-a", f"site={site.url}", "-a", f"closed_port={closed_port}"]
    plain_dir = shutil.copytree(PROJECT, tmp_path / "plain")
    weft_dir = shutil.copytree(PROJECT, tmp_path / "weft")

    plain_crawl = start_crawl(plain_dir, spider, *arguments)
    with start_crawl(weft_dir, spider, *arguments, *WITH_WEFT) as weft_crawl, plain_crawl:
        plain = wait_for(plain_dir, plain_crawl)
        with_weft = wait_for(weft_dir, weft_crawl)

    assert with_weft.items == plain.items
    assert comparable(with_weft.stats, spider) == comparable(plain.stats, spider)
    assert with_weft.log - plain.log == plain.log - with_weft.log == Counter()
    [job_dir] = (weft_dir / ".weft").iterdir()
    assert job_dir.name.startswith(f"{spider}-")
    assert stored_items(job_dir) == plain.items
    assert plain.items.total() == SPIDERS[spider]
    assert not (plain_dir / ".weft").exists()


@pytest.mark.parametrize("spider", ["catalogue", "modern", "pages"])
def test_each_part_can_be_scrapys_own(
    spider: str, site: SiteServer, closed_port: int, tmp_path: Path
) -> None:
    arguments = ["-a", f"site={site.url}", "-a", f"closed_port={closed_port}"]
    directory = shutil.copytree(PROJECT, tmp_path / "weft")
    with start_crawl(directory, spider, *arguments, *WITH_WEFT, *WITH_SCRAPYS_PARTS) as crawl:
        assert wait_for(directory, crawl).items.total() == SPIDERS[spider]


def test_scrapys_own_feeds_give_the_same_with_weft(
    site: SiteServer, closed_port: int, tmp_path: Path
) -> None:
    arguments = ["-a", f"site={site.url}", "-a", f"closed_port={closed_port}"]
    names = ("feed.json", "feed.csv", "feed.xml")
    feeds = [part for name in names for part in ("-O", name)]
    found: list[list[Counter[str]]] = []
    for more in ((), WITH_WEFT):
        directory = shutil.copytree(PROJECT, tmp_path / f"{len(more)}")
        with start_crawl(directory, "catalogue", *arguments, *feeds, *more) as crawl:
            wait_for(directory, crawl)
        items = [canonical(json.dumps(item)) for item in json.loads(read(directory / names[0]))]
        rows = read(directory / names[1]).splitlines()
        tags = re.findall("<item>.*?</item>", read(directory / names[2]), re.DOTALL)
        found.append([Counter(items), Counter(rows), Counter(tags)])
    assert found[0] == found[1]
    assert [each.total() for each in found[0]] == [90, 91, 90]


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
