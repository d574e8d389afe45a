"""`weft jobs` and `weft job`: what nodes and other workers of a store are told to do."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet import Fleet, are_gone, pages_hit
from launchers.redis import RedisServer
from running import Process, Weft
from weft.testing import Site, SiteServer
from weft.testing.waiting import wait_until

HOSTS = ("127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4")

#: Hangs in its callback: no signal but SIGKILL ends it.
HANGING = """
import time
import scrapy

class BookSpider(scrapy.Spider):
    name = "books"

    async def start(self):
        yield scrapy.Request(self.url)

    def parse(self, response):
        time.sleep(100)
"""


@pytest.fixture
def fleet(weft: Weft, redis_server: RedisServer) -> Fleet:
    return Fleet(weft, redis_server.url)


@pytest.fixture
def endless() -> Iterator[SiteServer]:
    """More pages than a test can crawl."""
    with SiteServer(Site(pages=5_000, hosts=HOSTS)) as server:
        yield server


def starts(server: SiteServer) -> list[str]:
    return [server.url_of(host) for host in HOSTS]


def hits_after(server: SiteServer, at_s: float) -> int:
    return sum(hit.at_s > at_s for hit in server.hits())


def wait_for_hits(server: SiteServer, what: str) -> None:
    now_s = time.monotonic()
    wait_until(lambda: hits_after(server, now_s) > 5, description=what)


def assert_silent(server: SiteServer) -> None:
    """Nothing is sent from now on."""
    now_s = time.monotonic()
    wait_until(lambda: time.monotonic() > now_s + 2, description="two seconds are over")
    assert hits_after(server, now_s) == 0


def test_pause_resume_and_stop_act_on_all_workers(
    fleet: Fleet, weft: Weft, endless: SiteServer
) -> None:
    job = (*starts(endless), "--job", "it", "--delay", "0.05")
    with fleet.node("n1", "--processes", "1"):
        assert fleet.run("job", "start", *job).stdout == "Started it on 1 node of 1.\n"
        by_hand = weft.start("crawl", *job, "--store", fleet.url)
        wait_until(lambda: len(fleet.workers("it")) == 2, description="both are at work")
        pids = fleet.pids("it")

        since_s = time.monotonic()
        assert fleet.run("job", "pause", "it").stdout.startswith("it is paused: 2 workers")
        assert time.monotonic() - since_s < 5
        assert_silent(endless)
        assert [row["state"] for row in fleet.look("jobs")] == ["paused"]
        assert fleet.pids("it") == pids

        assert fleet.run("job", "resume", "it").stdout == "it continues: 2 workers.\n"
        wait_for_hits(endless, "it crawls again")
        assert fleet.pids("it") == pids

        since_s = time.monotonic()
        stopped = fleet.run("job", "stop", "it")
        assert stopped.stdout.startswith("it is stopped: it has no workers"), stopped.stderr
        wait_until(lambda: are_gone(pids), description="all have ended")
        assert time.monotonic() - since_s < 5
        assert "Not finished (stopped)" in ended(by_hand)
        assert_silent(endless)
        [row] = fleet.look("jobs")
        assert (row["name"], row["state"], row["workers"]) == ("it", "stopped", 0)

        assert "1 node will start workers" in fleet.run("job", "resume", "it").stdout
        wait_for_hits(endless, "the node crawls again")


def ended(process: Process) -> str:
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    return out


def test_stop_ends_a_worker_that_hears_nothing(fleet: Fleet, tmp_path: Path) -> None:
    (tmp_path / "books.py").write_text(HANGING)
    with SiteServer(Site(pages=1)) as server, fleet.node("n1", "--processes", "1"):
        fleet.run("job", "start", "books.py", "-a", f"url={server.url}", "--job", "books")
        wait_until(lambda: bool(pages_hit(server)), description="it hangs")
        pids = fleet.pids("books")
        since_s = time.monotonic()
        stopped = fleet.run("job", "stop", "books")
        assert are_gone(pids)
        assert time.monotonic() - since_s < 5
        assert stopped.returncode == 0, stopped.stderr
        assert fleet.workers("books") == []


def test_a_running_job_is_started_again_with_other_options(
    fleet: Fleet, endless: SiteServer
) -> None:
    job = ("job", "start", *starts(endless), "--job", "it")
    with fleet.node("n1", "--processes", "1"):
        fleet.run(*job, "--delay", "0.2")
        wait_for_hits(endless, "it crawls")
        first = fleet.pids("it")
        before = fleet.stats("it").done
        assert fleet.run(*job, "--delay", "0.1").stdout == "Started it on 1 node of 1.\n"
        assert not fleet.pids("it") & first
        wait_for_hits(endless, "it crawls again")
        assert fleet.stats("it").done >= before
        fleet.run(*job, "--fresh", "--delay", "0.1")
        wait_for_hits(endless, "it has started over")
        assert pages_hit(endless).count("127.0.0.1/") == 2


def test_a_job_waits_for_a_node_and_crawling_by_hand_lets_it_run(
    fleet: Fleet, weft: Weft, site: SiteServer
) -> None:
    assert "There is no job in" in fleet.run("jobs").stdout
    started = fleet.run("job", "start", site.url, "--job", "it")
    assert "There is no node to work on it yet: run `weft worker --store redis://" in started.stdout
    assert [row["state"] for row in fleet.look("jobs")] == ["running"]
    assert "it is stopped" in fleet.run("job", "stop", "it").stdout
    crawled = weft("crawl", site.url, "--job", "it", "--store", fleet.url)
    assert crawled.stdout.startswith("10 pages"), crawled.stderr
    shown = fleet.run("jobs").stdout.split()
    assert shown[shown.index("it") + 1] == "finished"
    with fleet.node("n1", "--processes", "1") as node:
        wait_until(lambda: fleet.nodes()["n1"].heard_ago_ms < 500, description="it has looked")
        assert "starts" not in node.said()


@pytest.mark.parametrize(
    ("command", "cure"),
    [
        (["job", "start", "http://127.0.0.1:1/"], "--store redis://HOST:PORT/DB"),
        (["job", "start", "http://127.0.0.1:1/", "--store", "rocks://x"], "embedded store"),
        (["job", "start", "http://127.0.0.1:1/", "--store", "URL", "-o", "x.doc"], ".jsonl"),
        (
            ["job", "start", "http://127.0.0.1:1/", "--store", "URL", "-s", "WEFT_BUCKETS=many"],
            "WEFT_BUCKETS is 'many'",
        ),
        (["job", "stop", "none", "--store", "URL"], "there is no job none in"),
        (["job", "pause", "none", "--store", "rocks://x"], "--store redis://HOST:PORT/DB"),
    ],
)
def test_what_is_wrong_is_told_with_its_cure(
    command: list[str], cure: str, fleet: Fleet, weft: Weft
) -> None:
    told = weft(*(fleet.url if word == "URL" else word for word in command))
    assert told.returncode == 1
    assert cure in told.stderr
    assert "Traceback" not in told.stderr
    assert fleet.jobs() == {}
