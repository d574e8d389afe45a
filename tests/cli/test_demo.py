"""`weft demo`: what people run first."""

import re
import shlex
import signal
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from running import Weft
from servers import skipped_if_missing
from weft.demo.newsroom.stories import stories
from weft.engine.browser.config import BrowserConfig
from weft.engine.browser.finding import check_browser
from weft.testing.waiting import wait_until

ALL = len(stories())
PLAIN = sum(not story.needs_browser for story in stories())


@pytest.fixture
def no_browser(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))


@pytest.fixture
def has_browser() -> None:
    with skipped_if_missing():
        check_browser(BrowserConfig())


def articles_of(weft: Weft) -> str:
    """How many the board has found, as `weft board show` has it."""
    [found] = re.findall(r"articles (\d+),", weft("board", "show", "demo").stdout)
    return str(found)


@pytest.mark.usefixtures("has_browser")
def test_the_demo_shows_the_articles_of_three_papers(weft: Weft) -> None:
    ended = weft("demo")
    assert ended.returncode == 0, ended.stderr
    assert "WARNING" not in ended.stderr
    assert f"{ALL} articles, the newest of each section" in ended.stdout
    assert "missing" not in ended.stdout
    for story in ("Shipyard wins an order for six electric harbour ferries", "林知夏"):
        assert story in ended.stdout
    assert articles_of(weft) == str(ALL)


@pytest.mark.usefixtures("no_browser")
def test_without_a_browser_the_demo_says_what_is_missing(weft: Weft) -> None:
    ended = weft("demo")
    assert ended.returncode == 0, ended.stderr
    assert "WARNING" not in ended.stderr
    assert f"{PLAIN} articles, the newest of each section" in ended.stdout
    assert "same command" not in ended.stdout + ended.stderr  # the demo starts over
    missing = f"{ALL - PLAIN} articles of the section Live are missing: pages that need a browser"
    assert missing in ended.stdout


@pytest.mark.usefixtures("no_browser")
def test_repeats_are_shown_below_their_titles(weft: Weft) -> None:
    lines = weft("demo").stdout.splitlines()
    shown = {
        tuple(re.sub(r"^\S.*?  +|  +\d{4}-.*", "", part.strip()) for part in pair)
        for pair in pairwise(lines)
        if "  repeats: " in pair[1]
    }
    originals = {story.key: story.title for story in stories()}
    reprints = [story for story in stories() if story.duplicate_of]
    assert len(shown) == len(reprints)
    for reprint in reprints:
        titles = {reprint.title, originals[str(reprint.duplicate_of)]}
        assert any(titles == {one, two.removeprefix("repeats: ")} for one, two in shown)


@pytest.mark.usefixtures("no_browser")
def test_each_command_that_the_demo_names_works_and_a_second_demo_starts_afresh(weft: Weft) -> None:
    assert weft("demo").returncode == 0
    ended = weft("demo")
    assert articles_of(weft) == str(PLAIN)
    told = ended.stdout.partition("Each story once:")[2]
    commands = re.findall(r"^  (.+)$", told, re.MULTILINE)
    assert len(commands) == 5
    for command in commands[:-1]:  # the last is about a site of others
        run = subprocess.run(
            ["/bin/sh", "-c", command], cwd=weft.directory, capture_output=True, text=True
        )
        assert run.returncode == 0, (command, run.stderr)
    assert shlex.split(commands[-1])[1:3] == ["board", "preview"]
    chinese = (weft.directory / "articles.csv").read_text("utf-8")
    assert "老码头的渡轮时隔两年恢复周日班次" in chinese
    assert "Courier" not in chinese


@pytest.mark.usefixtures("no_browser")
def test_the_demo_ends_at_ctrl_c(weft: Weft) -> None:
    process = weft.start("demo")
    items = weft.directory / ".weft/demo/items.db"
    wait_until(lambda: items.exists() and items.stat().st_size > 0, "the crawl runs")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in out + err
    assert "newest of each section" not in out
    assert "Not finished" in out or "Stopped at once." in err
    assert "same command" not in out + err
