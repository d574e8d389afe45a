"""What measures: the meter, the store of pages, and what becomes of contestants that fail."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from urllib.request import urlopen

import psutil
import pytest

from bench.crawlers import site as sites
from bench.crawlers import trial as trials
from bench.crawlers.cores import all_cores, apart, kept_to
from bench.crawlers.field import Contestant, Pace
from bench.crawlers.meter import Reading, read
from bench.crawlers.nginx import Nginx, find_nginx
from bench.crawlers.pages import Author, Page, StaticSite
from bench.crawlers.rounds import INTERLUDES, Race
from bench.crawlers.scenarios import SCENARIOS
from bench.crawlers.site import Kept, keep
from bench.crawlers.trial import Arena, Trial, run_trial
from launchers.redis import RedisServer
from weft.errors import ConfigError

SITE = StaticSite(pages=3, page_bytes=2_000, links=10)
Run = Callable[..., Trial]

#: A grandchild whose parent does not wait for it, and which nobody else would count.
ORPHAN = """
import os, sys, time
if os.fork():
    os._exit(0)
os.setsid()
while time.process_time() < 0.5:
    pass
"""


def metered(directory: Path, *programs: str) -> Reading:
    commands = directory / "commands.json"
    commands.write_text(json.dumps([[sys.executable, "-c", program] for program in programs]))
    report = directory / "report.json"
    command = [sys.executable, "-m", "bench.crawlers.meter", str(report), str(commands)]
    subprocess.run(command, check=True)
    reading = read(report)
    assert reading is not None
    return reading


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux hands orphans to a meter")
def test_cpu_of_a_process_that_lost_its_parent_is_counted(tmp_path: Path) -> None:
    assert metered(tmp_path, ORPHAN).cpu_s >= 0.5


def test_programs_run_at_the_same_time_and_each_has_its_exit_code(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    # Neither can open its end before the other does.
    writes = f"open({str(fifo)!r}, 'w').write('x')"
    reads = f"import sys; sys.exit(len(open({str(fifo)!r}).read()) + 2)"
    assert metered(tmp_path, writes, reads).codes == [0, 3]


# Pages on the disk


def quiet(text: str) -> None:
    pass


def test_pages_are_written_once_and_found_again(tmp_path: Path) -> None:
    told: list[str] = []
    first, again = (keep(SITE, tmp_path, told.append) for _ in range(2))
    assert first == again
    assert len(told) == 1
    assert len(list(first.root.rglob("*.html"))) == SITE.total


def test_while_its_port_is_taken_a_site_is_written_for_another(tmp_path: Path) -> None:
    first = keep(SITE, tmp_path, quiet)
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("0.0.0.0", first.port))
        other.listen()
        second = keep(SITE, tmp_path, quiet)
    assert second.port != first.port
    assert f":{second.port}/" in next(second.root.rglob("*-0.html")).read_text()


def test_a_full_disk_is_told_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sites, "SPARE_BYTES", 10**18)
    with pytest.raises(ConfigError, match=r"free some, name another directory with --cache"):
        keep(SITE, tmp_path, quiet)
    assert list(tmp_path.iterdir()) == []


def test_a_site_that_was_not_finished_is_not_kept(tmp_path: Path) -> None:
    def stop_soon() -> Iterator[Page]:
        yield from list(Author(SITE, 21_000).pages())[:2]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sites._write(stop_soon(), tmp_path / "site")
    assert list(tmp_path.iterdir()) == []


# Crawls


def test_without_nginx_the_cure_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("bench.crawlers.nginx._MORE_PATHS", str(tmp_path))
    with pytest.raises(ConfigError, match="apt-get install nginx-light"):
        find_nginx()


@pytest.fixture
def kept(nginx: None, tmp_path: Path) -> Kept:
    return keep(SITE, tmp_path / "cache", quiet)


def running(program: str) -> Contestant:
    """A contestant that is this Python program."""
    return Contestant("test", "a test", lambda plan: [[sys.executable, "-c", program]], "weft", 1)


@pytest.fixture
def run(kept: Kept, redis_server: RedisServer) -> Iterator[Run]:
    """Runs a Python program as a contestant."""
    with Nginx(kept.root, kept.port) as nginx:
        arena = Arena(redis_server, Path(sys.executable), all_cores())

        def run(program: str, interludes: Sequence[Callable[[], None]] = ()) -> Trial:
            return run_trial(
                running(program), kept, nginx, Pace(), arena, lambda served: None, interludes
            )

        yield run


def test_short_crawls_are_taken_in_the_midst_of_a_long_one(
    redis_server: RedisServer, tmp_path: Path
) -> None:
    arena = Arena(redis_server, Path(sys.executable), all_cores())
    race = Race(SCENARIOS["endurance"]._replace(rounds=2), arena, tmp_path, lambda step: None)
    crawls = [turn for turn in race.turns() if not turn.is_start]
    assert [turn.entry.site.total for turn in crawls] == [200_000, 200_000]
    for turn in crawls:
        assert [each.entry.site.total for each in turn.within] == 2 * INTERLUDES * [2_000]
        assert [each.is_start for each in turn.within] == INTERLUDES * [True, False]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps processes to cores")
def test_a_long_crawl_and_its_server_have_cores_of_their_own(
    redis_server: RedisServer, kept: Kept, tmp_path: Path
) -> None:
    seen = tmp_path / "cores"
    program = f"import os; open({str(seen)!r}, 'w').write(str([*os.sched_getaffinity(0)]))"
    split = apart()
    assert split.server | split.crawler == all_cores()
    assert len(all_cores()) == 1 or not split.server & split.crawler
    arena = Arena(redis_server, Path(sys.executable), split.crawler)
    with kept_to(split.server):
        with Nginx(kept.root, kept.port) as nginx:
            run_trial(running(program), kept, nginx, Pace(), arena, lambda served: None)
        assert json.loads(seen.read_text()) == sorted(split.crawler)
        assert all_cores() == split.server
    assert all_cores() == split.server | split.crawler


def test_the_server_counts_requests_of_others_only(kept: Kept) -> None:
    with Nginx(kept.root, kept.port) as nginx:
        for served in range(3):
            assert [nginx.served(), nginx.served()] == [served, served]
            with urlopen(kept.starts[0]) as answer:
                assert kept.titles[kept.starts[0]].split(" & ")[0].encode() in answer.read()


def honest(kept: Kept) -> str:
    """Takes its time before the first page, and between two."""
    return (
        "import json, time, urllib.request\n"
        f"titles = {kept.titles!r}\n"
        "while time.process_time() < 0.3: pass\n"
        "with open('out-1.jsonl', 'w') as out:\n"
        "    for url, title in titles.items():\n"
        "        urllib.request.urlopen(url).read()\n"
        "        out.write(json.dumps({'url': url, 'title': title}) + '\\n')\n"
        "        time.sleep(0.2)\n"
    )


def test_a_contestant_that_does_its_work_is_right(run: Run, kept: Kept) -> None:
    trial = run(honest(kept))
    assert trial.is_right
    assert trial.served == SITE.total
    assert trial.cpu_s > trial.first_cpu_s > 0.25
    assert trial.peak_bytes > 1_000_000


def test_a_crawl_is_held_for_what_is_done_in_its_midst(
    run: Run, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "STALL_S", 2.0)
    states: list[str] = []

    def look() -> None:
        [crawler] = (
            process
            for process in psutil.Process().children(recursive=True)
            if "out-1.jsonl" in " ".join(process.cmdline())
            and "bench.crawlers.meter" not in process.cmdline()
        )
        time.sleep(2.5)  # longer than a crawl may do nothing
        states.append(crawler.status())

    trial = run(honest(kept), [look, look])
    assert states == [psutil.STATUS_STOPPED] * 2
    assert trial.is_right
    assert trial.crawl_s < 1.5
    assert trial.wall_s < 4.0


def test_a_contestant_that_fails_is_told_with_its_last_words(run: Run) -> None:
    trial = run("print('before'); raise SystemExit('no such luck')")
    assert trial.problem == "ended with 1: no such luck"
    assert str(trial.verdict) == "WRONG: 3 missing"


def test_a_contestant_that_is_stuck_is_stopped(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(trials, "STALL_S", 1.0)
    told = tmp_path / "pid"
    trial = run(
        f"import os, time; open({str(told)!r}, 'w').write(str(os.getpid())); time.sleep(99)"
    )
    assert not psutil.pid_exists(int(told.read_text()))
    assert trial.problem == "stopped, for it asked for no page for 1 s"
    assert not trial.is_right
