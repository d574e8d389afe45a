"""`weft crawl` and `weft frontier` on a store that workers share."""

import json
import subprocess
import sys
from pathlib import Path
from subprocess import Popen

from launchers.redis import RedisServer
from running import Weft
from weft.testing import Site, SiteServer
from weft.testing.waiting import wait_until

HOSTS = ("127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4")


def urls_in(path: Path) -> list[str]:
    return [json.loads(line)["url"] for line in path.read_text().splitlines()]


def ended(process: Popen[str]) -> str:
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out


def test_the_same_command_in_another_terminal_joins_the_crawl(
    weft: Weft, tmp_path: Path, redis_server: RedisServer
) -> None:
    with SiteServer(Site(pages=100, hosts=HOSTS, latency_s=0.02)) as server:
        starts = [server.url_of(host) for host in HOSTS]
        command = ("crawl", *starts, "--store", redis_server.url, "-o", "out.jsonl")
        both = [weft.start(*command) for _ in range(2)]
        said = [ended(process) for process in both]
        urls = urls_in(tmp_path / "out.jsonl")
        assert len(urls) == len(set(urls)) == 400
        assert set(urls) == server.page_urls()
        pages = [hit.path for hit in server.hits() if hit.path != "/robots.txt"]
        assert len(pages) == 400
        again = weft(*command)
    # One may be so late that nothing is left for it.
    assert all(" page" in text or "Nothing to do" in text for text in said)
    assert any(" pages and " in text for text in said)
    assert again.returncode == 0
    assert "Nothing to do: this crawl is finished" in again.stdout
    assert f" in {redis_server.url}; --fresh starts over" in again.stdout


def test_several_workers_may_fetch_from_one_host(
    weft: Weft, tmp_path: Path, redis_server: RedisServer
) -> None:
    with SiteServer(Site(pages=200, latency_s=0.05)) as server:
        options = ("--workers-per-host", "2", "--concurrency", "4", "-o", "out.jsonl")
        command = ("crawl", server.url, "--store", redis_server.url, *options)
        both = [weft.start(*command) for _ in range(2)]
        counts = [int(ended(process).split()[0]) for process in both]
        times = [hit.at_s for hit in server.hits() if hit.path != "/robots.txt"]
    assert min(counts) > 20
    assert sum(counts) == 200 == len(set(urls_in(tmp_path / "out.jsonl")))
    # A request takes 0.05 s: whatever arrives within that time of it is under way with it.
    assert max(sum(start <= at_s < start + 0.045 for at_s in times) for start in times) <= 4


def test_a_fresh_crawl_forgets_the_shared_one(
    weft: Weft, tmp_path: Path, redis_server: RedisServer
) -> None:
    with SiteServer(Site(pages=20)) as server:
        command = ("crawl", server.url, "--store", redis_server.url, "-o", "out.jsonl")
        assert weft(*command, "--max-pages", "5").returncode == 0
        assert weft(*command, "--fresh").returncode == 0
        assert set(urls_in(tmp_path / "out.jsonl")) == server.page_urls()
        assert len(server.hits()) == 5 + 20 + 2


def test_a_shared_frontier_can_be_asked_and_cleared(weft: Weft, redis_server: RedisServer) -> None:
    store = ("--store", redis_server.url)
    none = weft("frontier", "stats", *store)
    assert f"there is no job in {redis_server.url}; crawl something first" in none.stderr
    with SiteServer(Site(pages=20)) as server:
        weft("crawl", server.url, *store, "--job", "one", "--max-pages", "5")
        told = json.loads(weft("frontier", "stats", "--json", *store).stdout)
        assert told["stats"]["done"] == 5
        assert told["hosts"][0]["host"] == "127.0.0.1"
        story = weft("frontier", "explain", server.url + "p/1.html", *store).stdout
        assert f"on {server.url}" in story
        weft("crawl", server.url, *store, "--job", "two", "--max-pages", "5")
    several = weft("frontier", "stats", *store)
    assert f"there are several jobs in {redis_server.url}: one, two" in several.stderr
    assert "name one with --job" in several.stderr
    assert "  5 pages done\n" in weft("frontier", "stats", *store, "--job", "two").stdout
    assert "no job three" in weft("frontier", "stats", *store, "--job", "three").stderr
    for job in ("one", "two"):
        cleared = weft("frontier", "clear", "--all", "--yes", *store, "--job", job)
        assert cleared.stdout == f"Forgot {job} in {redis_server.url}.\n"
    assert redis_server.ask("DBSIZE") == 0


def test_two_that_start_together_inject_once_and_one_that_joins_late_takes_work(
    weft: Weft, tmp_path: Path, redis_server: RedisServer
) -> None:
    hosts = tuple(f"127.0.1.{number}" for number in range(1, 41))
    with SiteServer(Site(hosts=hosts, pages=40, links=4, latency_s=0.15)) as server:
        starts = [server.url_of(host) for host in hosts]
        options = ("--store", redis_server.url, "--concurrency", "1", "-o", "out.jsonl")
        workers = [weft.start("crawl", *starts, *options) for _ in range(2)]
        wait_until(lambda: len(server.hits()) > 300, description="the crawl is well under way")
        workers.append(weft.start("crawl", *starts, *options))
        pages = [int(ended(worker).split()[0].replace(",", "")) for worker in workers]
        wanted = set().union(*(server.page_urls(host) for host in hosts))
        fetched = [(hit.host, hit.path) for hit in server.hits() if hit.path != "/robots.txt"]
    assert sum(pages) == len(wanted) == len(fetched) == len(set(fetched))
    assert min(pages) > 20
    assert set(urls_in(tmp_path / "out.jsonl")) == wanted


KILLED = """
import asyncio, os
from pathlib import Path
from weft.sinks import KeyedItem, SinkConfig, make_sink
async def be_killed():
    sink = make_sink("out.jsonl", SinkConfig(Path(".weft/job"), is_shared=True))
    await sink.open()
    for url in ("merged", "left"):
        await sink.store([KeyedItem(url.encode().ljust(16), {"url": url})])
    os._exit(9)
asyncio.run(be_killed())
"""


def test_items_of_a_worker_that_was_killed_last_of_all_are_taken_up(
    weft: Weft, tmp_path: Path, redis_server: RedisServer
) -> None:
    with SiteServer(Site(pages=5)) as server:
        options = ("--store", redis_server.url, "--job", "job", "-o", "out.jsonl")
        command = ("crawl", server.url, *options)
        assert weft(*command).returncode == 0
        assert subprocess.run([sys.executable, "-c", KILLED], cwd=tmp_path).returncode == 9
        assert len(urls_in(tmp_path / "out.jsonl")) == 6
        again = weft(*command)
        assert again.returncode == 0, again.stderr
        assert urls_in(tmp_path / "out.jsonl")[-2:] == ["merged", "left"]
        assert "Nothing to do" in weft(*command).stdout
