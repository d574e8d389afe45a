"""An ordinary Scrapy project gives the same items with Weft as without."""

import json
import shutil
import socket
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from weft.testing import Site, SiteServer

PROJECT = Path(__file__).parent / "project"
WITH_WEFT = ("-s", 'ADDONS={"weft.Addon": 500}')

#: How many items each spider is known to give: a crawl that finds nothing is equal to another.
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
    return subprocess.Popen(
        command, cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )


def exported_items(directory: Path, crawl: subprocess.Popen[str]) -> Counter[str]:
    """What Scrapy's own feed export wrote, after the end of the crawl."""
    _, log = crawl.communicate(timeout=60)
    assert crawl.returncode == 0, log
    assert "spider_exceptions" not in log, log
    lines = (directory / "feed.jsonl").read_text().splitlines()
    return Counter(canonical(line) for line in lines)


def stored_items(job_dir: Path) -> Counter[str]:
    with closing(sqlite3.connect(job_dir / "items.db")) as database:
        return Counter(canonical(item) for (item,) in database.execute("SELECT item FROM items"))


def canonical(line: str) -> str:
    return json.dumps(json.loads(line), sort_keys=True)


@pytest.mark.parametrize("spider", SPIDERS)
def test_a_spider_gives_the_same_items_with_weft(
    spider: str, site: SiteServer, closed_port: int, tmp_path: Path
) -> None:
    arguments = ["-a", f"site={site.url}", "-a", f"closed_port={closed_port}"]
    plain_dir = shutil.copytree(PROJECT, tmp_path / "plain")
    weft_dir = shutil.copytree(PROJECT, tmp_path / "weft")

    plain_crawl = start_crawl(plain_dir, spider, *arguments)
    with start_crawl(weft_dir, spider, *arguments, *WITH_WEFT) as weft_crawl, plain_crawl:
        plain = exported_items(plain_dir, plain_crawl)
        with_weft = exported_items(weft_dir, weft_crawl)

    assert with_weft == plain
    assert stored_items(weft_dir / ".weft" / spider) == plain
    assert plain.total() == SPIDERS[spider]
    assert not (plain_dir / ".weft").exists()
