"""What a board allows its hosts is kept, by all workers."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from delays import gaps_s

from launchers.redis import RedisServer
from newsrooms import ROBOTS, write_board
from running import Weft
from weft.testing import Hit
from weft.testing.newsroom import NewsroomServer

DELAY_S = 0.2


@pytest.fixture
def site() -> Iterator[NewsroomServer]:
    with NewsroomServer(papers=["digest", "evening"]) as server:
        yield server


def hits_by_host(site: NewsroomServer) -> dict[str, list[Hit]]:
    by_host = defaultdict(list)
    for hit in site.hits():
        if hit.path != ROBOTS:
            by_host[hit.host].append(hit)
    return by_host


def crawl(weft: Weft, site: NewsroomServer, *options: str, **limits: Any) -> None:
    """`digest` has limits, `evening` has none."""
    slow, quick = site.entries
    write_board(weft.directory / "slow.yaml", [slow], limits={"pages": 12, **limits})
    write_board(weft.directory / "quick.yaml", [quick], limits={})
    done = weft("crawl", "slow.yaml", "quick.yaml", "-o", "items.jsonl", *options)
    assert done.returncode == 0, done.stderr


def test_a_board_has_a_delay_of_its_own(weft: Weft, site: NewsroomServer) -> None:
    check_delay(weft, site)


def test_all_workers_keep_the_delay_of_a_board(
    weft: Weft, site: NewsroomServer, redis_server: RedisServer
) -> None:
    options = ("--store", redis_server.url, "--workers", "2", "--workers-per-host", "2")
    check_delay(weft, site, *options)


def check_delay(weft: Weft, site: NewsroomServer, *options: str) -> None:
    crawl(weft, site, *options, delay=DELAY_S)
    slow, quick = sorted(hits_by_host(site).values(), key=len)
    assert len(slow) >= 12
    assert min(gaps_s(slow)) >= DELAY_S - 0.05
    assert min(gaps_s(quick)) < DELAY_S / 2
