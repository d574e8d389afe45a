"""A site that does everything wrong costs its bad pages, never the crawl or the machine."""

import json
import re
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest

from launchers.redis import RedisServer
from running import Weft
from weft.testing.hostile import HostileServer
from weft.testing.waiting import wait_until

MAX_PEAK_BYTES = 700_000_000
#: Requests of one page: it may be tried again once.
MAX_FETCHES = 2
#: Half of that, where nothing else runs beside it.
ENDS_WITHIN_S = 10.0

#: Traps have no end; and nobody waits three minutes for each page that never comes.
OPTIONS = (
    *("--depth", "10", "-o", "pages.jsonl", "--concurrency", "16"),
    *("-s", "DOWNLOAD_TIMEOUT=2"),
)


class Watched:
    """A crawl, and the most memory that each of its processes has had."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.peaks_bytes: Counter[int] = Counter()

    def wait(self, timeout_s: float) -> str:
        """What it logged, when it has ended."""
        deadline_s = time.monotonic() + timeout_s
        while True:
            try:
                return self._process.communicate(timeout=0.1)[1]
            except subprocess.TimeoutExpired:
                if time.monotonic() > deadline_s:
                    self._process.kill()
                    raise AssertionError(
                        f"the crawl does not end:\n{self._process.communicate()[1]}"
                    ) from None
                self._look()

    def _look(self) -> None:
        found = [self._process.pid]
        try:
            found += [each.pid for each in psutil.Process(found[0]).children(recursive=True)]
        except psutil.NoSuchProcess:
            return
        for pid in found:
            self.peaks_bytes[pid] = max(self.peaks_bytes[pid], peak_bytes(pid))


def peak_bytes(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) * 1024 if found else 0


def check(site: HostileServer, directory: Path, crawl: Watched, log: str) -> None:
    lines = (directory / "pages.jsonl").read_text().splitlines()
    arrived = Counter(json.loads(line)["url"] for line in lines)
    assert {url: arrived[url] for url in site.good_urls()} == dict.fromkeys(site.good_urls(), 1)
    assert max(arrived.values()) == 1
    pages = [hit for hit in site.hits() if hit.path != "/robots.txt"]  # each worker needs that
    fetched = Counter((hit.host, hit.path) for hit in pages)
    assert {page: many for page, many in fetched.items() if many > MAX_FETCHES} == {}
    assert "Traceback" not in log
    assert max(crawl.peaks_bytes.values()) < MAX_PEAK_BYTES


@pytest.mark.timeout(180)
def test_all_good_pages_of_a_hostile_site_arrive_once(weft: Weft, tmp_path: Path) -> None:
    with HostileServer() as site:
        crawl = Watched(weft.start("crawl", *site.urls, *OPTIONS))
        log = crawl.wait(150)
        check(site, tmp_path, crawl, log)
        why = weft("frontier", "explain", f"{site.url}markup/nested/div", "--job", job_of(tmp_path))
    assert "refused" in why.stdout
    assert "more tags than WEFT_MAX_PAGE_TAGS = 100000" in why.stdout


def job_of(directory: Path) -> str:
    [job] = (path.name for path in (directory / ".weft").iterdir() if path.is_dir())
    return job


@pytest.mark.timeout(180)
def test_two_workers_bear_a_hostile_site(
    weft: Weft, tmp_path: Path, redis_server: RedisServer
) -> None:
    with HostileServer(["packing", "markup"], ["robots"]) as site:
        command = ("crawl", *site.urls, *OPTIONS, "--workers", "2", "--store", redis_server.url)
        crawl = Watched(weft.start(*command))
        log = crawl.wait(150)
        check(site, tmp_path, crawl, log)
        assert len(crawl.peaks_bytes) >= 3  # both of them and their supervisor were measured


@pytest.mark.parametrize("is_interrupted", [True, False], ids=["ctrl-c", "limit"])
def test_a_hostile_site_cannot_hold_a_crawl(weft: Weft, is_interrupted: bool) -> None:
    """Hosts that ask for days between two pages, and pages that never end."""
    limit_s = 60 if is_interrupted else 3
    with HostileServer(["framing"], ["patience", "busy-patience"]) as site:
        process = weft.start("crawl", *site.urls, "-s", f"CLOSESPIDER_TIMEOUT={limit_s}")
        try:
            wait_until(lambda: bool(site.hits()), "the crawl has begun")
            ends_at_s = time.monotonic() + limit_s
            if is_interrupted:
                wait_until(
                    lambda: any("drip" in hit.path for hit in site.hits()), "a page never ends"
                )
                process.send_signal(signal.SIGINT)
                ends_at_s = time.monotonic()
            _, log = process.communicate(timeout=limit_s + 30)
        finally:
            process.kill()
    assert time.monotonic() < ends_at_s + ENDS_WITHIN_S
    assert "Traceback" not in log
