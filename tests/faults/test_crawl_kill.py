"""A crawl that is killed again and again ends with exactly the pages of the site."""

import json
import random
import signal
from pathlib import Path

import pytest

from effort import times
from running import Weft
from weft.testing import Site, SiteServer

# Redirects, retries and dead links too: each is a moment at which something could get lost.
PAGES = times(600, 2000)
SITE = Site(pages=PAGES, links=10, redirects_every=7, flaky_every=50, missing_every=40)
INTERRUPTIONS = times(6, 20)


def crawled(path: Path) -> list[str]:
    return [json.loads(line)["url"] for line in path.read_text().splitlines()]


@pytest.mark.timeout(240)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["kill -9", "Ctrl-C"])
def test_an_interrupted_crawl_goes_on_and_loses_nothing(
    number: signal.Signals, weft: Weft, tmp_path: Path, rng: random.Random
) -> None:
    with SiteServer(SITE) as server:
        command = ("crawl", server.url, "-o", "out.jsonl")
        interrupted = 0
        while interrupted < INTERRUPTIONS:
            # Mostly before the crawl is through; a crawl that got through starts over.
            ended = weft.interrupt_after(rng.uniform(0.1, times(7, 14) / 10), number, *command)
            assert "Traceback" not in ended.stderr, ended.stderr
            if ended.returncode == 0:
                assert set(crawled(tmp_path / "out.jsonl")) == server.page_urls()
                weft("crawl", server.url, "-o", "out.jsonl", "--fresh", "--max-pages", "1")
            interrupted += 1
        last = weft(*command)
        assert last.returncode == 0, last.stderr
        pages = crawled(tmp_path / "out.jsonl")
        assert len(pages) == PAGES
        assert set(pages) == server.page_urls()
        again = weft(*command)
        assert again.returncode == 0
        assert "Nothing to do" in again.stdout
        fresh = weft(*command, "--fresh")
        assert fresh.returncode == 0
        assert sorted(crawled(tmp_path / "out.jsonl")) == sorted(pages)
