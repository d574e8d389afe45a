"""A crawl that is killed again and again: its archive has every page, and can be read."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from running import Weft
from warcs import read_pages
from weft.testing import Site, SiteServer
from weft.testing.waiting import wait_until

SITE = Site(pages=300, links=10, size_bytes=20_000, redirects_every=7, latency_s=0.01)
KILLS = 3


def crawl_and_kill(weft: Weft, server: SiteServer, command: Sequence[str], requests: int) -> None:
    wanted = len(server.hits()) + requests
    process = weft.start(*command)
    try:
        wait_until(lambda: len(server.hits()) >= wanted, description="the crawl is under way")
    finally:
        process.kill()
        process.communicate()


@pytest.mark.timeout(240)
def test_a_killed_crawl_archives_every_page(weft: Weft, tmp_path: Path, rng: random.Random) -> None:
    archive = tmp_path / "pages"
    with SiteServer(SITE) as server:
        command = ("crawl", server.url, "-o", "warc://pages", "--concurrency", "8")
        for _ in range(KILLS):
            crawl_and_kill(weft, server, command, rng.randrange(10, 80))
        last = weft(*command)
        assert last.returncode == 0, last.stderr
        archived = read_pages(archive)
        assert not list(archive.glob("*.warc.gz.open"))
        assert {page.url for page in archived if page.status == 200} >= server.page_urls()
        # Pages are the same each time; so must be what is archived of them.
        assert len({(page.url, page.body) for page in archived}) == len({p.url for p in archived})
        # What came when a worker was killed may be missing, but was fetched again then.
        assert len(archived) <= len(server.hits())
