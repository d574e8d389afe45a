"""Boards limit the hosts of their domains, as they are met."""

from typing import Any

import pytest
from scrapy.settings import Settings

from weft.boards.board import Board, Limits
from weft.config import HostLimits
from weft.engine.boards.limitedhosts import LimitedHosts
from weft.engine.politeness.hostkeys import ByDomain, ByName
from weft.engine.politeness.limits import CrawlLimits
from weft.engine.settings import CLAIMS_AHEAD, SETTINGS, read_settings
from weft.frontier.memory import MemoryFrontier


def board(name: str, *hosts: str, **limits: Any) -> Board:
    entries = tuple(f"https://{host}/" for host in hosts)
    return Board(name, entries, limits=Limits(**limits))


class Crawl:
    def __init__(self, **values: Any) -> None:
        settings = Settings(dict(SETTINGS), "default")
        settings.setdict(values, "project")
        config = read_settings(settings, "job")
        self.frontier_config = config.frontier
        self.limits = CrawlLimits(config, MemoryFrontier(config.frontier))


def test_hosts_of_a_board_are_limited_as_they_are_met() -> None:
    crawl = Crawl()
    hosts = LimitedHosts(crawl.limits, ByName())
    hosts.use([board("news", "www.a.example", delay_s=2, concurrency=1), board("b", "b.example")])
    assert crawl.limits.of("www.a.example") == HostLimits(delay_ms=2_000, concurrency=1)
    assert crawl.frontier_config.limits_of("www.a.example").delay_ms == 2_000
    hosts.meet("sport.a.example")
    hosts.meet("b.example")
    assert crawl.limits.of("sport.a.example").delay_ms == 2_000
    assert crawl.limits.of("b.example") == crawl.limits.of_all


def test_of_several_boards_the_strictest_holds() -> None:
    crawl = Crawl(DOWNLOAD_DELAY=1)
    hosts = LimitedHosts(crawl.limits, ByName())
    boards = [
        board("one", "a.example", delay_s=0.5, workers_per_host=2),
        board("two", "a.example", concurrency=3),
        board("three", "a.example", workers_per_host=1),
    ]
    hosts.use(boards)
    assert crawl.limits.of("a.example") == HostLimits(delay_ms=1_000, concurrency=3, workers=1)
    hosts.use(boards[:1])
    assert crawl.limits.of("a.example") == HostLimits(delay_ms=500, concurrency=8, workers=2)
    hosts.use([])
    assert crawl.limits.of("a.example") == crawl.limits.of_all
    assert crawl.frontier_config.limits_by_host == {}


def test_what_the_settings_say_of_a_host_is_never_exceeded() -> None:
    slots = {"a.example": {"delay": 3, "concurrency": 2}}
    crawl = Crawl(DOWNLOAD_SLOTS=slots)
    hosts = LimitedHosts(crawl.limits, ByName())
    hosts.use([board("news", "a.example", delay_s=0, concurrency=9)])
    own = HostLimits(delay_ms=3_000, concurrency=2)
    assert crawl.limits.of("a.example") == own
    hosts.use([])
    assert crawl.limits.of("a.example") == crawl.frontier_config.limits_of("a.example") == own


def test_hosts_that_share_a_key_have_the_strictest_limits() -> None:
    crawl = Crawl(WEFT_HOST_KEY="domain")
    hosts = LimitedHosts(crawl.limits, ByDomain())
    hosts.use([board("one", "x.a.example", delay_s=1), board("two", "y.a.example", delay_s=2)])
    assert crawl.limits.of("a.example").delay_ms == 2_000


@pytest.mark.parametrize("concurrency", [1, 16])
def test_more_claims_than_requests_at_a_time_wait_in_a_worker(concurrency: int) -> None:
    crawl = Crawl()
    LimitedHosts(crawl.limits, ByName()).use([board("a", "a.example", concurrency=concurrency)])
    assert crawl.limits.concurrency_of("a.example") == concurrency
    assert crawl.frontier_config.limits_of("a.example").concurrency == CLAIMS_AHEAD * concurrency


def test_the_hosts_that_were_met_last_are_limited() -> None:
    crawl = Crawl()
    hosts = LimitedHosts(crawl.limits, ByName(), max_hosts=2)
    hosts.use([board("news", "a.example", delay_s=1)])
    hosts.meet("b.a.example")
    hosts.meet("a.example")
    hosts.meet("c.a.example")
    assert crawl.frontier_config.limits_by_host.keys() == {"a.example", "c.a.example"}
