"""`weft worker`, `weft nodes` and `weft node`: machines that serve the jobs of a store."""

import json
import os
import re
import signal
import time
from pathlib import Path

import pytest

from fleet import Fleet, are_gone, pages_hit
from launchers.redis import RedisServer
from running import Weft
from weft.testing import Site, SiteServer
from weft.testing.waiting import wait_until

HOSTS = ("127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4")
#: What dead workers had is taken up soon.
SOON = ("-s", "WEFT_LEASE_TIMEOUT=2")

SPIDER = """
import os
import scrapy

class BookSpider(scrapy.Spider):
    name = "books"

    async def start(self):
        yield scrapy.Request(self.url)

    def parse(self, response):
        yield {"url": response.url}
"""


@pytest.fixture
def fleet(weft: Weft, redis_server: RedisServer) -> Fleet:
    return Fleet(weft, redis_server.url)


def start_all(fleet: Fleet, server: SiteServer, *options: str) -> None:
    starts = [server.url_of(host) for host in HOSTS]
    started = fleet.run("job", "start", *starts, "--job", "it", "-o", "out.jsonl", *options)
    assert started.returncode == 0, started.stderr


def urls_in(path: Path) -> list[str]:
    return [json.loads(line)["url"] for line in path.read_text().splitlines()]


def wait_until_finished(fleet: Fleet, job: str = "it") -> None:
    def is_finished() -> bool:
        found = fleet.jobs()[job]
        return bool(found.finished) and not fleet.workers(job)

    wait_until(is_finished, description=f"{job} is finished", timeout_s=60)


def test_a_node_serves_a_job_that_is_started_later_and_starts_over(
    fleet: Fleet, tmp_path: Path
) -> None:
    assert "There is no node" in fleet.run("nodes").stdout
    with (
        SiteServer(Site(pages=15, hosts=HOSTS, latency_s=0.1)) as server,
        fleet.node("n1", "--processes", "2", "--weight", "2") as node,
    ):
        start_all(fleet, server, "--delay", "0.4")
        wait_until(lambda: len(fleet.workers("it")) == 2, description="both workers are there")
        workers = fleet.workers("it")
        assert [worker.status.node for worker in workers] == ["n1", "n1"]
        wait_until(
            lambda: sum(worker.status.buckets for worker in fleet.workers("it")) == 16,
            description="all buckets are served",
        )
        shown = fleet.run("nodes").stdout
        assert "n1 " in shown
        assert shown.count("running") == 3
        assert shown.count(" it ") == 2
        told = fleet.look("nodes")
        assert [each["name"] for each in told["nodes"]] == ["n1"]
        assert told["nodes"][0]["jobs"]["it"]["state"] == "running"
        assert [each["weight"] for each in told["workers"]] == [2.0, 2.0]
        wait_until_finished(fleet)
        wait_until(
            lambda: are_gone({worker.status.pid for worker in workers}), description="they end"
        )
        assert len(pages_hit(server)) == 60
        assert set(urls_in(tmp_path / "out.jsonl")) == server.page_urls()

        again = fleet.run("job", "start", *map(server.url_of, HOSTS), "--job", "it")
        assert "Nothing to do: this crawl is finished" in again.stdout
        assert "--fresh starts over" in again.stdout
        wait_until(
            lambda: fleet.node_job("n1", "it").state == "ended", description="the node knows"
        )
        start_all(fleet, server, "--fresh")
        wait_until_finished(fleet)
        assert len(pages_hit(server)) == 120
        assert len(urls_in(tmp_path / "out.jsonl")) == 60
        node.send(signal.SIGTERM)
        assert node.ended() == 0
        assert "n1" not in fleet.nodes()
    assert node.said().count("it: starts 2 workers") == 2


def test_a_worker_that_is_killed_is_replaced(fleet: Fleet, tmp_path: Path) -> None:
    with (
        SiteServer(Site(pages=20, hosts=HOSTS, latency_s=0.2)) as server,
        fleet.node("n1", "--processes", "2"),
    ):
        start_all(fleet, server, "--concurrency", "2", *SOON)
        wait_until(lambda: len(pages_hit(server)) > 5, description="the crawl is under way")
        first = fleet.pids("it")
        victim = min(first)
        os.kill(victim, signal.SIGKILL)
        wait_until(
            lambda: len(fleet.pids("it") - first) == 1 and victim not in fleet.pids("it"),
            description="another is there, and the dead one is not listed",
            timeout_s=8,
        )
        assert fleet.nodes()["n1"].status.deaths == 1
        wait_until_finished(fleet)
        # A worker that was silent for longer than its lease is not listed, but writes its file.
        wait_until(
            lambda: set(urls_in(tmp_path / "out.jsonl")) == server.page_urls(),
            description="all pages are in the file",
        )


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("import what_is_not_there", "books.py cannot be imported: ModuleNotFoundError"),
        pytest.param(
            *("os.kill(os.getpid(), 9)", "worker 1 died 5 times in a row before it had fetched a"),
            marks=pytest.mark.long,
        ),
    ],
)
def test_a_job_that_cannot_run_here_is_given_up_until_it_is_started_again(
    fault: str, reason: str, fleet: Fleet, tmp_path: Path
) -> None:
    here = tmp_path / "node"
    here.mkdir()
    (tmp_path / "books.py").write_text(SPIDER)
    (here / "books.py").write_text(f"import os\n{fault}\n{SPIDER}")
    with (
        SiteServer(Site(pages=1)) as server,
        fleet.node("n1", "--processes", "1", directory=here) as node,
    ):
        command = ("job", "start", "books.py", "-a", f"url={server.url}", "--job", "books")
        fleet.run(*command)
        wait_until(
            lambda: fleet.node_job("n1", "books").state == "failed", description="the node gives up"
        )
        assert reason in fleet.node_job("n1", "books").reason
        for told in (fleet.run("jobs"), fleet.run("nodes")):
            assert f"n1 gave up on books: {reason}" in told.stdout
        assert node.said().count("books: starts 1 worker\n") == 1
        (here / "books.py").write_text(SPIDER)
        assert fleet.run(*command).stdout == "Started books on 1 node of 1.\n"
        wait_until_finished(fleet, "books")
        assert pages_hit(server) == ["127.0.0.1/"]


def test_a_failure_is_told_by_the_command_that_starts_the_job(fleet: Fleet, tmp_path: Path) -> None:
    here = tmp_path / "node"
    here.mkdir()
    (tmp_path / "books.py").write_text(SPIDER)
    with fleet.node("n1", "--processes", "1", directory=here):
        started = fleet.run("job", "start", "books.py", "-a", "url=http://127.0.0.1:1/")
    assert started.returncode == 1
    assert re.match(r"Started books-\w{12} on 0 nodes of 1\.", started.stdout)
    assert re.match(r"n1 gave up on books-\w{12}: there is no file books\.py", started.stderr)


def test_a_signal_drains_a_node_and_a_second_one_kills(fleet: Fleet) -> None:
    with SiteServer(Site(pages=50, hosts=HOSTS, latency_s=1)) as server:
        with fleet.node("n1", "--processes", "1") as node:
            start_all(fleet, server, "-s", "ROBOTSTXT_OBEY=False")
            wait_until(lambda: bool(server.hits()), description="requests are under way")
            pids = fleet.pids("it")
            node.send(signal.SIGTERM)
            assert node.ended() == 0
            assert are_gone(pids)
            assert fleet.stats("it").claimed == 0
            assert fleet.stats("it").done == len(pages_hit(server))
        with fleet.node("n1", "--processes", "1") as node:
            under_way = len(server.hits())
            wait_until(lambda: len(server.hits()) > under_way, description="it goes on")
            pids = fleet.pids("it")
            node.send(signal.SIGTERM)
            node.send(signal.SIGINT)
            assert node.ended(10) == 130
            assert are_gone(pids)
            assert fleet.workers("it") == []
            assert fleet.nodes() == {}


def test_a_node_is_drained_resumed_and_stopped_by_order(fleet: Fleet) -> None:
    with (
        SiteServer(Site(pages=500, hosts=HOSTS)) as server,
        fleet.node("n1", "--processes", "1") as node,
    ):
        start_all(fleet, server, "--delay", "0.2")
        drained = fleet.run("node", "drain", "n1")
        assert drained.returncode == 0, drained.stderr
        assert drained.stdout.startswith("n1 is drained")
        assert fleet.workers("it") == []
        hits = len(server.hits())
        assert fleet.state("n1") == "drained"
        assert fleet.run("node", "resume", "n1").stdout == "n1 is running.\n"
        wait_until(lambda: len(server.hits()) > hits, description="it crawls again")
        assert fleet.run("node", "stop", "n1").stdout == "n1 has stopped.\n"
        assert node.ended() == 0
    unknown = fleet.run("node", "stop", "n1")
    assert unknown.returncode == 1
    assert f"there is no node n1 in {fleet.url}; there are: none" in unknown.stderr


def test_a_node_that_vanishes_is_shown_as_lost(fleet: Fleet) -> None:
    with SiteServer(Site(pages=500, hosts=HOSTS)) as server:
        with fleet.node("n1", "--processes", "1") as node:
            start_all(fleet, server, "--delay", "0.2")
            second = fleet.run("worker", "--name", "n1")
            assert second.returncode == 1
            assert "there is already a node n1" in second.stderr
            assert "give this one another name with --name" in second.stderr
            pids = fleet.pids("it")
            node.send(signal.SIGKILL)
            died_at_s = time.monotonic()
        wait_until(lambda: are_gone(pids), description="its workers died with it")
        # Node and worker were last heard of up to a second apart.
        wait_until(
            lambda: fleet.state("n1") == "lost" and not fleet.workers("it"),
            description="both are lost",
            timeout_s=15,
        )
        assert time.monotonic() - died_at_s < 15
        told = fleet.look("nodes")
        assert {each["state"] for each in told["nodes"] + told["workers"]} == {"lost"}
        assert "running" not in fleet.run("nodes").stdout
        [row] = fleet.look("jobs")
        assert (row["state"], row["workers"], row["buckets"]) == ("running", 0, 0)
        for order in ("drain", "resume", "stop"):
            refused = fleet.run("node", order, "n1")
            assert refused.returncode == 1
            assert "the node n1 is lost: it was last heard from" in refused.stderr
        hits = len(server.hits())
        with fleet.node("n1", "--processes", "1"):
            wait_until(lambda: len(server.hits()) > hits, description="its successor goes on")


def test_a_node_waits_for_its_store_and_goes_on(
    fleet: Fleet, redis_server: RedisServer, tmp_path: Path
) -> None:
    with (
        SiteServer(Site(pages=20, hosts=HOSTS, latency_s=0.1)) as server,
        fleet.node("n1", "--processes", "1") as node,
    ):
        start_all(fleet, server, "--delay", "0.1", "-s", "WEFT_CLAIM_TIMEOUT=3")
        redis_server.kill()
        wait_until(lambda: "does not answer" in node.said(), description="it notices")
        redis_server.start()
        wait_until_finished(fleet)
        assert set(urls_in(tmp_path / "out.jsonl")) == server.page_urls()
        assert fleet.state("n1") == "running"


@pytest.mark.parametrize(
    ("options", "cure"),
    [
        (["--store", "rocks://job"], "--store redis://HOST:PORT/DB"),
        (["--store", "redis://127.0.0.1:1/0"], "does not answer"),
        (["--store", "redis://127.0.0.1:1/0", "--name", "a b"], "letters, digits"),
    ],
)
def test_what_is_wrong_is_told_with_its_cure(options: list[str], cure: str, weft: Weft) -> None:
    ended = weft("worker", *options)
    assert ended.returncode == 1
    assert cure in ended.stderr
    assert "Traceback" not in ended.stderr
