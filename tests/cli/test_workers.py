"""`weft crawl --workers N`: several processes, one crawl."""

import json
import os
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from launchers.redis import RedisServer
from running import Weft, is_worker
from weft.node.spares import NAME as FORKED
from weft.testing import Site, SiteServer
from weft.testing.waiting import wait_until

HOSTS = ("127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4")

SPIDER = """
import os
import scrapy

class BookSpider(scrapy.Spider):
    name = "books"

    async def start(self):
        print("hello from the spider")
        yield scrapy.Request(self.url)

    def parse(self, response):
        BODY
"""


@pytest.fixture
def hosts() -> Iterator[SiteServer]:
    """Four hosts of thirty pages each, which take some seconds to crawl."""
    with SiteServer(Site(pages=30, hosts=HOSTS, latency_s=0.2)) as server:
        yield server


def starts(server: SiteServer) -> list[str]:
    return [server.url_of(host) for host in HOSTS]


def pages_hit(server: SiteServer) -> list[str]:
    return [hit.host + hit.path for hit in server.hits() if hit.path != "/robots.txt"]


def has_followed(server: SiteServer, host: str) -> bool:
    """Whether links of its first page were followed, so that this page is done."""
    return len([page for page in pages_hit(server) if page.startswith(f"{host}/")]) > 1


def urls_in(path: Path) -> list[str]:
    return [json.loads(line)["url"] for line in path.read_text().splitlines()]


def urls_in_database(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT item FROM items").fetchall()
    return [json.loads(item)["url"] for (item,) in rows]


def children(pid: int) -> dict[int, str]:
    """The processes that a process has started, with their command lines."""
    found: dict[int, str] = {}
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found[child] = command_line(child)
    return found


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def workers_of(process: "subprocess.Popen[str]") -> list[int]:
    return [pid for pid in children(process.pid) if is_worker(pid)]


def is_stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def are_gone(pids: list[int]) -> bool:
    return not any(command_line(pid) for pid in pids)


@contextmanager
def started(weft: Weft, *command: str) -> "Iterator[subprocess.Popen[str]]":
    """A command that does not outlive a test that fails."""
    process = weft.start(*command)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def said_by(process: "subprocess.Popen[str]", code: int = 0) -> tuple[str, str]:
    """What it has said when it has ended."""
    out, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    return out, err


def assert_complete(server: SiteServer, urls: list[str]) -> None:
    assert len(urls) == len(set(urls))
    assert set(urls) == server.page_urls()


def test_workers_share_a_crawl_and_a_private_server(
    weft: Weft, tmp_path: Path, hosts: SiteServer
) -> None:
    alone = ("crawl", *starts(hosts), "-o", "out.jsonl", "-o", "items.db", "--concurrency", "2")
    command = (*alone, "--workers", "2")
    with started(weft, *command) as crawl:
        # The second worker joins at once, and a host that moves to it may begin after the others.
        wait_until(
            lambda: len(pages_hit(hosts)) > 8 and has_followed(hosts, HOSTS[0]),
            description="the crawl is under way",
        )
        processes = [*children(crawl.pid)]
        assert len(processes) == 3
        assert len(workers_of(crawl)) == 2
        second = weft(*command)
        assert second.returncode == 1
        assert "is in use by another weft: wait until it has finished" in second.stderr
        told = json.loads(weft("frontier", "stats", "--json").stdout)["stats"]
        assert told["claimed"] > 0
        wait_until(
            lambda: "status 200" in weft("frontier", "explain", hosts.url).stdout,
            description="the first page of the first host is finished",
        )
        said, _ = said_by(crawl)
    assert said.startswith("120 pages and 120 items")
    assert said.endswith("Items are in out.jsonl, items.db\n")
    assert are_gone(processes)
    assert_complete(hosts, urls_in(tmp_path / "out.jsonl"))
    assert_complete(hosts, urls_in_database(tmp_path / "items.db"))
    assert len(pages_hit(hosts)) == 120

    [job_dir] = tmp_path.glob(".weft/*")
    place = f".weft/{job_dir.name}"
    for again in (weft(*command), weft(*alone)):
        assert again.returncode == 0
        assert f"Nothing to do: this crawl is finished. Its job is {place};" in again.stdout
    told = json.loads(weft("frontier", "stats", "--json", "--job", job_dir.name).stdout)["stats"]
    assert told["done"] == 120
    assert "status 200" in weft("frontier", "explain", hosts.url).stdout
    assert weft("frontier", "clear", "--yes").stdout == f"Forgot {place}.\n"
    assert f"there is no job in {place}; crawl" in weft("frontier", "stats").stderr


def test_one_worker_goes_on_where_several_were_interrupted(
    weft: Weft, tmp_path: Path, hosts: SiteServer
) -> None:
    command = ("crawl", *starts(hosts), "-o", "out.jsonl")
    with started(weft, *command, "-w", "2") as crawl:
        wait_until(lambda: len(pages_hit(hosts)) > 20, description="the crawl is under way")
        processes = [*children(crawl.pid)]
        crawl.send_signal(signal.SIGINT)
        said, _ = said_by(crawl, 130)
    assert "Not finished (shutdown)" in said
    assert are_gone(processes)
    assert len(pages_hit(hosts)) < 120
    assert "Not finished" not in weft(*command).stdout
    assert_complete(hosts, urls_in(tmp_path / "out.jsonl"))
    assert len(pages_hit(hosts)) == 120


def test_the_second_interrupt_stops_all_workers_at_once(weft: Weft) -> None:
    command = ("crawl", "-w", "2", "-s", "ROBOTSTXT_OBEY=False")
    with (
        SiteServer(Site(pages=50, latency_s=30)) as server,
        started(weft, *command, server.url) as crawl,
    ):
        wait_until(lambda: bool(server.hits()), description="the first request is under way")
        processes = [*children(crawl.pid)]
        crawl.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            crawl.wait(1)  # for the request that is under way
        crawl.send_signal(signal.SIGINT)
        _, err = said_by(crawl, 130)
    assert "run the same command to continue" in err
    assert are_gone(processes)


def test_nothing_outlives_a_killed_command_and_it_goes_on(
    weft: Weft, tmp_path: Path, hosts: SiteServer
) -> None:
    command = ("crawl", *starts(hosts), "--workers", "2", "-o", "out.jsonl")
    with started(weft, *command) as crawl:
        wait_until(lambda: len(pages_hit(hosts)) > 40, description="the crawl is under way")
        processes = [*children(crawl.pid)]
        crawl.kill()
    assert len(processes) == 3
    wait_until(lambda: are_gone(processes), description="workers and server are gone")
    ended = weft(*command, timeout=30)  # at once: the claims of the dead are free
    assert ended.returncode == 0, ended.stderr
    assert_complete(hosts, urls_in(tmp_path / "out.jsonl"))


def test_workers_are_stopped_and_go_on_with_the_command(weft: Weft, site: SiteServer) -> None:
    with started(weft, "crawl", site.url, "-w", "2", "--delay", "0.1") as crawl:
        wait_until(lambda: len(pages_hit(site)) > 1, description="the crawl is under way")
        workers = workers_of(crawl)
        crawl.send_signal(signal.SIGTSTP)
        wait_until(
            lambda: all(is_stopped(pid) for pid in (crawl.pid, *workers)), description="all stop"
        )
        crawl.send_signal(signal.SIGCONT)
        said, _ = said_by(crawl)
    assert said.startswith("10 pages")


@pytest.mark.parametrize(
    "number", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.long)]
)
def test_a_worker_that_dies_is_replaced(
    number: signal.Signals, weft: Weft, tmp_path: Path, hosts: SiteServer
) -> None:
    options = ("--workers", "2", "-o", "out.jsonl", "-s", "WEFT_LEASE_TIMEOUT=2")
    with started(weft, "crawl", *starts(hosts), *options) as crawl:
        wait_until(lambda: len(pages_hit(hosts)) > 20, description="the crawl is under way")
        first = workers_of(crawl)
        os.kill(first[0], number)
        wait_until(
            lambda: len(set(workers_of(crawl)) - set(first)) == 1, description="another is started"
        )
        _, err = said_by(crawl)
    assert "nothing is lost, another takes its place" in err
    assert_complete(hosts, urls_in(tmp_path / "out.jsonl"))


@pytest.mark.long
def test_a_worker_that_always_dies_ends_the_crawl(weft: Weft, tmp_path: Path) -> None:
    dies = SPIDER.replace("yield scrapy", "os.kill(os.getpid(), 9)\n        yield scrapy")
    (tmp_path / "books.py").write_text(dies.replace("BODY", "pass"))
    crawl = weft("crawl", "books.py", "-a", "url=http://127.0.0.1:1/", "-w", "2")
    assert crawl.returncode == 1
    assert "died 5 times in a row before it had fetched a page" in crawl.stderr
    assert "the last time: killed by SIGKILL" in crawl.stderr
    assert "[worker 1] hello from the spider" in crawl.stderr


def test_a_spider_that_raises_has_failed_in_every_worker(weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "books.py").write_text(SPIDER.replace("BODY", 'raise ValueError("oops")'))
    with SiteServer(Site(pages=3)) as server:
        crawl = weft("crawl", "books.py", "-a", f"url={server.url}", "-w", "2")
    assert crawl.returncode == 1
    assert "1 request failed: spider error" in crawl.stdout
    assert "hello" not in crawl.stdout


def test_the_users_code_is_loaded_in_the_worker_that_runs_it(weft: Weft, tmp_path: Path) -> None:
    # It may open connections or start threads, which a fork would break.
    body = (
        "yield {'url': response.url, 'is_own': LOADED_BY == os.getpid(), "
        "'name': open('/proc/self/comm').read().strip()}"
    )
    spider = SPIDER.replace("BODY", body).replace("class", "LOADED_BY = os.getpid()\n\nclass")
    (tmp_path / "books.py").write_text(spider)
    with SiteServer(Site(pages=3)) as server:
        weft("crawl", "books.py", "-a", f"url={server.url}", "-w", "2", "-o", "out.jsonl")
    item = json.loads((tmp_path / "out.jsonl").read_text())
    assert item["is_own"]
    assert item["name"] == FORKED


def test_a_spider_that_cannot_be_made_ends_the_crawl(weft: Weft, tmp_path: Path) -> None:
    broken = SPIDER.replace("async def start", "def __init__")
    (tmp_path / "books.py").write_text(broken.replace("BODY", "pass"))
    crawl = weft("crawl", "books.py", "-a", "url=http://127.0.0.1:1/", "-w", "2")
    assert crawl.returncode == 1
    assert "weft: a worker failed: TypeError" in crawl.stderr
    assert "another takes its place" not in crawl.stderr


def test_workers_share_a_store_of_the_user(
    weft: Weft, tmp_path: Path, hosts: SiteServer, redis_server: RedisServer
) -> None:
    command = ("crawl", *starts(hosts), "--workers", "2", "--store", redis_server.url)
    assert weft(*command).stdout.startswith("120 pages and 120 items")
    [items] = tmp_path.glob(".weft/*/items.db")
    assert_complete(hosts, urls_in_database(items))
    assert not [*tmp_path.glob(".weft/*/server")]
    assert f" in {redis_server.url}; --fresh starts over" in weft(*command).stdout


def test_all_workers_together_crawl_exactly_so_many_pages(weft: Weft, tmp_path: Path) -> None:
    with SiteServer(Site(pages=30, hosts=HOSTS)) as server:
        command = ("crawl", *starts(server), "-w", "2", "-o", "out.jsonl", "--max-pages")
        assert weft(*command, "1").stdout.startswith("1 page and 1 item")
        assert "Not finished (max_pages)" in weft(*command, "37").stdout
        assert len(urls_in(tmp_path / "out.jsonl")) == 38
        assert "Not finished" not in weft(*command, "1000").stdout
        assert_complete(server, urls_in(tmp_path / "out.jsonl"))


def test_a_fresh_crawl_lives_where_its_command_says(
    weft: Weft, tmp_path: Path, site: SiteServer
) -> None:
    command = ("crawl", site.url, "-o", "out.jsonl", "--job", "it")
    assert weft(*command, "--max-pages", "5").returncode == 0
    refused = weft(*command, "--workers", "2")
    assert refused.returncode == 1
    assert "continue without --workers, or add --fresh to start over" in refused.stderr
    assert weft(*command, "--workers", "2", "--fresh").returncode == 0
    assert (tmp_path / ".weft/it/server").is_dir()
    assert not (tmp_path / ".weft/it/frontier").exists()
    assert_complete(site, urls_in(tmp_path / "out.jsonl"))
    assert weft(*command, "--workers", "2", "--fresh").stdout.startswith("10 pages")
    assert weft(*command, "--fresh").stdout.startswith("10 pages")
    assert (tmp_path / ".weft/it/frontier").is_dir()
    assert not (tmp_path / ".weft/it/server").exists()
    assert_complete(site, urls_in(tmp_path / "out.jsonl"))


@pytest.mark.parametrize(
    ("arguments", "cure"),
    [
        (["--store", "rocks://job"], "omit the store"),
        (["-s", "WEFT_STORE=rocks://job"], "--store redis://HOST:PORT/DB"),
        (["-s", "WEFT_MAX_PAGES=many"], "WEFT_MAX_PAGES is 'many'; it must be a number"),
        (["-o", "out.doc"], ".jsonl"),
    ],
)
def test_what_is_wrong_is_told_once_with_its_cure(
    arguments: list[str], cure: str, weft: Weft
) -> None:
    crawl = weft("crawl", "http://127.0.0.1:1/", "--workers", "2", *arguments)
    assert crawl.returncode == 1
    assert crawl.stderr.count(cure) == 1
    assert "Traceback" not in crawl.stderr
