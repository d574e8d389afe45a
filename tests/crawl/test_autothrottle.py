"""AutoThrottle does with Weft what it does in plain Scrapy, and its delays are kept at the gate."""

import re
from pathlib import Path
from typing import Any

import pytest
from crawling import Crawl, crawl, paths
from delays import gaps_s
from walking import Fetcher

from weft.testing import Site, SiteServer

LATENCY_S = 0.05
START_S = 0.4
#: Each request can be delayed by this much between being sent and being logged.
TOLERANCE_S = 0.05
SETTINGS = {
    "AUTOTHROTTLE_ENABLED": True,
    "AUTOTHROTTLE_START_DELAY": START_S,
    "AUTOTHROTTLE_TARGET_CONCURRENCY": 1.0,
    "AUTOTHROTTLE_DEBUG": True,
    "DOWNLOAD_DELAY_JITTER": 0,
    "LOG_LEVEL": "INFO",
}
PLAIN: dict[str, Any] = {"ADDONS": {}}
PAGES = 6


def adjusted_ms(done: Crawl) -> list[tuple[int, int]]:
    """The delays of the slot, and the latencies that they follow from."""
    found = re.findall(r"slot: 127.0.0.1 \|.* delay: *(\d+) ms .*latency: *(\d+) ms", done.log)
    return [(int(delay), int(latency)) for delay, latency in found]


@pytest.mark.parametrize("more", [PLAIN, {}], ids=["plain", "weft"])
def test_the_delay_follows_the_latency(tmp_path: Path, more: dict[str, Any]) -> None:
    with SiteServer(Site(latency_s=LATENCY_S)) as site:
        wanted = [f"{site.url}p/{number}.html" for number in range(1, PAGES + 1)]
        done = crawl(tmp_path, Fetcher, SETTINGS | more, urls=wanted)
        hits = site.hits()
    assert sorted(paths(hits)) == sorted(f"/p/{number}.html" for number in range(1, PAGES + 1))
    assert len(done.items) == PAGES
    adjusted = adjusted_ms(done)
    assert len(adjusted) == PAGES
    before_ms = START_S * 1000
    for delay_ms, latency_ms in adjusted:
        assert delay_ms == pytest.approx(max(latency_ms, (before_ms + latency_ms) / 2), abs=2)
        before_ms = delay_ms
    # A request waits for the delay that the answers so far have led to.
    for gap_s, (delay_ms, _) in zip(gaps_s(hits), adjusted, strict=False):
        assert gap_s >= delay_ms / 1000 - TOLERANCE_S


def test_the_delay_that_a_slot_begins_with_can_be_set(tmp_path: Path) -> None:
    """Not by AUTOTHROTTLE_START_DELAY, of a minute here, but in DOWNLOAD_SLOTS, as in Scrapy."""
    slots = {"127.0.0.1": {"delay": 0.1}}
    settings = SETTINGS | {"AUTOTHROTTLE_START_DELAY": 60, "DOWNLOAD_SLOTS": slots}
    with SiteServer(Site()) as site:
        wanted = [f"{site.url}p/{number}.html" for number in range(1, 4)]
        done = crawl(tmp_path, Fetcher, settings, urls=wanted)
    assert len(done.items) == 3
    assert adjusted_ms(done)[0][0] < 100
