"""A worker that is stopped for longer than its claims last goes on when it is continued."""

import os
import signal
import time
from pathlib import Path
from typing import Any, Self

import pytest
from asking import OURS, SCRAPYS
from crawling import start_crawl, times, wait_while_running
from scrapy import Request, signals
from scrapy.crawler import Crawler
from walking import Walker

from weft.engine.politeness.stops import CUT_S
from weft.testing import Site, SiteServer


@pytest.fixture(params=[SCRAPYS, OURS])
def settings(request: pytest.FixtureRequest) -> dict[str, Any]:
    """With either download handler."""
    return {
        "WEFT_CLAIM_TIMEOUT": 1,
        "DOWNLOAD_DELAY": 0.2,
        "DOWNLOAD_HANDLERS": {"http": request.param, "https": request.param},
    }


def test_a_worker_that_was_stopped_past_its_deadline_goes_on(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    with SiteServer(Site(pages=10, links=3)) as site:
        with start_crawl(tmp_path, Walker, settings=settings, start_urls=[site.url]) as process:
            wait_while_running(process, until=lambda: len(site.hits()) >= 3)
            process.send_signal(signal.SIGSTOP)
            wait_while_running(process, 2)
            process.send_signal(signal.SIGCONT)
            _, log = process.communicate(timeout=60)
        assert set(times(site.hits()).values()) == {1}
        assert len(site.hits()) == 10
    assert "'finish_reason': 'finished'" in log


class SelfStopping(Walker):
    """Stops its own process when some requests have passed the last gate and are not sent yet."""

    name = "stopping"

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.stop, signals.request_reached_downloader)
        return spider

    def stop(self, request: Request) -> None:
        if request.url.endswith("/p/2.html") and not Path("stopped").exists():
            Path("stopped").touch()
            os.kill(os.getpid(), signal.SIGSTOP)


def is_stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def test_what_was_about_to_be_sent_is_not_sent_when_the_claims_are_overdue(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    with SiteServer(Site(pages=10, links=3)) as site:
        settings["RETRY_ENABLED"] = False
        start = [site.url]
        with start_crawl(tmp_path, SelfStopping, settings=settings, start_urls=start) as process:
            wait_while_running(process, until=lambda: is_stopped(process.pid))
            wait_while_running(process, 1.5)
            before = len(site.hits())
            went_on_s = time.monotonic()
            process.send_signal(signal.SIGCONT)
            _, log = process.communicate(timeout=60)
        assert site.hits()[before].at_s - went_on_s > CUT_S
        assert set(times(site.hits()).values()) == {1}
        assert len(site.hits()) == 10
    assert "'finish_reason': 'finished'" in log
    assert "'frontier/failed': 0" in log
    assert "Traceback" not in log
