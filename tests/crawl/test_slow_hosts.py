"""Slow and delayed hosts do not hold up the others."""

from itertools import pairwise
from pathlib import Path

from running import Weft
from weft.testing import Hit, Site, SiteServer

FAST = tuple(f"127.0.1.{i}" for i in range(1, 49))
SLOW, DELAYED = "127.0.2.1", "127.0.2.2"
PAGES = 12


def last_fast_hit_s(hits: list[Hit]) -> float:
    """Time from the first request to the last one to a fast host."""
    return max(hit.at_s for hit in hits if hit.host in FAST) - min(hit.at_s for hit in hits)


def crawl(weft: Weft, hosts: tuple[str, ...], out: Path) -> float:
    latency_s = {SLOW: 5.0} if SLOW in hosts else 0.0
    site = Site(pages=PAGES, links=5, hosts=hosts, latency_s=latency_s)
    with SiteServer(site) as server:
        urls = [server.url_of(host) for host in hosts]
        slots = f'DOWNLOAD_SLOTS={{"{DELAYED}": {{"delay": 2.0}}}}'
        options = ("-s", slots, "-s", "ROBOTSTXT_OBEY=False", "-s", "CLOSESPIDER_TIMEOUT=7")
        weft("crawl", *urls, "-o", str(out), *options)
        hits = server.hits()
    fast = [hit for hit in hits if hit.host in FAST]
    assert len(fast) == len(FAST) * PAGES
    times = sorted(hit.at_s for hit in hits if hit.host == DELAYED)
    # What is kept is the time between sending; a busy machine delivers some milliseconds late.
    assert all(later - earlier >= 1.9 for earlier, later in pairwise(times))
    return last_fast_hit_s(hits)


def test_48_hosts_finish_as_fast_as_without_two_slow_ones(weft: Weft, tmp_path: Path) -> None:
    alone_s = min(crawl(weft, FAST, tmp_path / f"alone{i}.jsonl") for i in range(2))
    together_s = crawl(weft, (*FAST, SLOW, DELAYED), tmp_path / "together.jsonl")
    # One answer of the slow host, or one delay of the other, would already show.
    assert together_s < alone_s + 1.5, (alone_s, together_s)
