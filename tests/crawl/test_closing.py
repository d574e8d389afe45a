"""A crawl that is stopped ends within seconds, whatever it waits for; nothing is lost."""

import signal
import time
from pathlib import Path
from typing import Any

import pytest
from crawling import explain, start_crawl, wait_while_running
from walking import Fetcher

from weft.testing import Site, SiteServer
from weft.urls import fingerprint

ENDS_WITHIN_S = 5.0
LONG = "User-agent: *\nCrawl-delay: 99999999\n"


def waiting_urls(site: SiteServer, kind: str) -> list[str]:
    """Pages that a crawl would wait for: for a day, or for a minute."""
    path = "/p/1.html" if kind == "delay" else "/slow/60"
    return [site.url_of("127.0.0.1", path)]


@pytest.mark.parametrize(
    ("kind", "is_interrupted", "parts"),
    [
        pytest.param("delay", True, [], id="delay, ctrl-c"),
        pytest.param("delay", False, [], id="delay, timeout"),
        pytest.param("download", True, [], id="download, ctrl-c"),
        pytest.param("download", True, ["handler", "engine"], id="download by Scrapy, ctrl-c"),
    ],
)
def test_a_crawl_that_is_told_to_stop_does_not_wait(
    tmp_path: Path, kind: str, is_interrupted: bool, parts: list[str]
) -> None:
    settings: dict[str, Any] = {"ROBOTSTXT_OBEY": True, "WEFT_SCRAPY_PARTS": parts}
    if not is_interrupted:
        settings["CLOSESPIDER_TIMEOUT"] = 1
    with SiteServer(Site(robots=LONG if kind == "delay" else "User-agent: *\n")) as site:
        urls = waiting_urls(site, kind)
        asked = 1 if kind == "delay" else 2
        with start_crawl(tmp_path, Fetcher, settings=settings, urls=urls) as process:
            wait_while_running(process, until=lambda: len(site.hits()) >= asked)
            started_s = time.monotonic()
            if is_interrupted:
                process.send_signal(signal.SIGINT)
            _, log = process.communicate(timeout=30)
            took_s = time.monotonic() - started_s
    assert took_s < ENDS_WITHIN_S + (0 if is_interrupted else 1)
    assert "Traceback" not in log
    [told] = explain(tmp_path / ".weft" / Fetcher.name, fingerprint(urls[0]))
    assert told.queued_kind is not None or told.claim is not None  # the next run fetches it
    assert told.fetches == ()
