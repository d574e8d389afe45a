"""`make bench`: real crawls of a small site, beside plain Scrapy."""

import json
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from running import Process, Python
from weft.testing.waiting import wait_until

#: A site has a port of its own by its size: those of tests that run side by side differ.
NUMBER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
PAGES = 12 + NUMBER
LINKS = ("--site", "links", "--pages", str(PAGES), "--rounds", "1", "--cache", "cache")
BOTH = ("--contestant", "weft", "--contestant", "scrapy")


@pytest.fixture
def bench(tmp_path: Path) -> Python:
    return Python(tmp_path, "-m", "bench.crawlers")


def rows_of(told: str) -> dict[str, dict[str, Any]]:
    [result] = json.loads(told)
    return {row["name"]: row for row in result["rows"]}


@pytest.mark.usefixtures("nginx")
def test_the_table_has_a_row_for_each(bench: Python, tmp_path: Path) -> None:
    ended = bench(*LINKS, *BOTH, "--plot", "out.png")
    assert ended.returncode == 0, ended.stderr
    assert f"{PAGES} pages of 30 KB with 60 links; 16 requests at a time" in ended.stdout
    rows = [line for line in ended.stdout.splitlines() if f"all {PAGES}" in line]
    assert [row.split("|")[1].strip() for row in rows] == ["Weft, embedded", "plain Scrapy"]
    assert "This takes about" in ended.stderr
    assert "links, round 1 of 1: plain Scrapy, start and end" in ended.stderr
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("nginx")
def test_the_same_for_programs_with_who_is_not_installed(bench: Python, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.symlink_to(sys.executable)
    more = ("--contestant", "addon", "--contestant", "feapder", "--peers", str(bare), "--json")
    ended = bench(*LINKS, *more)
    assert ended.returncode == 0, ended.stderr
    rows = rows_of(ended.stdout)
    assert rows["feapder"]["fault"] == "not installed"
    assert rows["addon"]["fault"] == ""
    assert rows["addon"]["start_cpu_s"] > 0
    assert rows["addon"]["extra_requests"] == 0


@pytest.mark.long
@pytest.mark.usefixtures("nginx")
def test_start_and_end_are_measured_with_one_page(bench: Python) -> None:
    names = ("weft", "weft-spider", "weft-workers-2", "scrapy")
    more = [word for name in names for word in ("--contestant", name)]
    ended = bench("--site", "start", "--rounds", "1", "--cache", "cache", *more)
    assert ended.returncode == 0, ended.stderr
    assert "1 page of 30 KB" in ended.stdout
    assert ended.stdout.count("all 1 ") == len(names)
    limits = re.findall(r"(\S+) / plain Scrapy, start and end: [\d.]+ \(limit", ended.stdout)
    assert limits == ["embedded", "crawl", "workers"]


@pytest.mark.long
@pytest.mark.usefixtures("nginx")
def test_a_store_that_is_shared_is_measured_apart(bench: Python) -> None:
    ended = bench(*LINKS, "--contestant", "weft-redis-2", "--json")
    assert ended.returncode == 0, ended.stderr
    row = rows_of(ended.stdout)["weft-redis-2"]
    assert row["fault"] == ""
    assert row["start_redis_cpu_s"] > 0


@pytest.mark.long
@pytest.mark.usefixtures("nginx")
def test_beneath_the_table_stands_whether_limits_are_kept(bench: Python) -> None:
    polite = ("--site", "polite", "--pages", "1500", "--rounds", "1", "--cache", "cache")
    ended = bench(*polite, "--contestant", "weft")
    assert ended.returncode == 0, ended.stderr
    what = "Weft, embedded, part of what politeness allows"
    limit = rf"^(?:ok    |MISSED) {what}: ([\d.]+) \(limit ≥ 0.9\)$"
    [share] = re.findall(limit, ended.stdout, re.MULTILINE)
    # The first and the last page are seen a moment too early or too late.
    assert 0.1 < float(share) < 1.1


@pytest.mark.long
@pytest.mark.usefixtures("nginx")
def test_a_long_crawl_is_held_for_short_ones(bench: Python) -> None:
    # 500 pages beside 1,000: two short crawls in the midst of the long one.
    ended = bench("--site", "endurance", "--pages", "1000", "--cache", "cache")
    assert ended.returncode == 0, ended.stderr
    assert re.findall(r"all ([\d,]+)", ended.stdout) == ["500", "1,000"]
    assert re.search(
        r"CPU of a page, 1,000 pages / 500 pages: [\d.]+ \(limit ≤ 1.1\)", ended.stdout
    )


@pytest.mark.long
@pytest.mark.usefixtures("nginx")
def test_who_misses_a_page_is_wrong_and_the_command_fails(bench: Python, tmp_path: Path) -> None:
    assert bench(*LINKS, "--contestant", "scrapy").returncode == 0
    [site] = (tmp_path / "cache").glob(f"*-{PAGES}-30000-*")
    page, other = sorted(site.rglob("*-[1-9].html"))[-2:]  # the first has number 0
    page.unlink()
    other.write_text(other.read_text().replace("<title>", "<title>Not "))
    ended = bench(*LINKS, "--contestant", "scrapy", "--json")
    assert ended.returncode == 1
    fault = rows_of(ended.stdout)["scrapy"]["fault"]
    assert fault == "WRONG: 1 missing, 1 with a wrong title"


def start_bench(bench: Python) -> tuple[Process, list[psutil.Process]]:
    """With all its servers, in the midst of a crawl."""
    options = ("--site", "links", "--pages", str(200 + NUMBER), "--cache", "cache")
    process = bench.start(*options, "--contestant", "scrapy")
    family = psutil.Process(process.pid)

    def is_crawling() -> bool:
        return any("runspider" in command_of(each) for each in family.children(recursive=True))

    wait_until(is_crawling, description="Scrapy was started", timeout_s=60)
    children = family.children(recursive=True)
    assert any("nginx" in command_of(child) for child in children)
    return process, children


def command_of(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:  # it has ended meanwhile
        return ""


@pytest.mark.usefixtures("nginx")
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere children outlive a kill")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)]
)
def test_whatever_ends_it_ends_everything_that_it_started(
    bench: Python,
    number: signal.Signals,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Who is killed does not tidy up.
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    process, children = start_bench(bench)
    process.send_signal(number)
    _, told = process.communicate(timeout=60)
    assert process.returncode == code, told
    _, alive = psutil.wait_procs(children, timeout=20)
    assert alive == []
    if number != signal.SIGKILL:
        assert list(tmp_path.glob("weft-*")) == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--site", "nowhere"], "--site nowhere: there is none; choose from links, articles"),
        (["--contestant", "nobody"], "--contestant nobody: there is none; choose from weft"),
        (
            ["--site", "endurance", "--contestant", "crawlee"],
            "none of these contestants is in this scenario; it has: weft",
        ),
        (["--plot", "out.txt"], "use one of .png, .svg, .pdf"),
        (["--plot", "nowhere/out.png"], "there is no directory nowhere; create it first"),
    ],
)
def test_what_cannot_be_is_told_with_its_cure(bench: Python, options: list[str], told: str) -> None:
    ended = bench(*options)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert told in ended.stderr


def test_help_teaches_with_examples(bench: Python) -> None:
    shown = bench("-h").stdout
    assert "python -m bench.crawlers --quick" in shown
    assert "handwritten" in " ".join(shown.split())
