"""The example of the newspapers does what its README says."""

import json
import os
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import nursery
from launchers.mongodb import MongoServer, find_mongod
from newsrooms import check_duplicates, check_fields
from onecommand import Run, copy_of, running, shell_blocks
from running import Weft
from servers import skipped_if_missing
from weft.demo.newsroom.papers import PAPERS
from weft.demo.newsroom.site import Newsroom

#: Not crawled: no board wants it, or plain HTML says nothing of it.
LEFT_OUT = {"markets", "live"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return copy_of("news", tmp_path)


@pytest.fixture
def has_mongod() -> None:
    with skipped_if_missing():
        find_mongod()


@pytest.fixture
def mongodb(has_mongod: None) -> Iterator[MongoServer]:
    with MongoServer() as server:
        yield server


def newsroom_of(run: Run) -> Newsroom:
    entries = run.wait_for(r"Three newspapers are at (.+)\n")[1].split()
    return Newsroom({paper.name: entry for paper, entry in zip(PAPERS, entries, strict=True)})


def told_commands(run: Run) -> list[str]:
    """How to look at what is there."""
    told = run.wait_for(r"Look at it:\n((?:  .+\n){2})")[1]
    return [line.strip() for line in told.splitlines()]


def shell(command: str) -> str:
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def check_collection(lines: str, newsroom: Newsroom) -> None:
    """Each article of the sections that are crawled, once and right, by the board of its paper."""
    items = [json.loads(line) for line in lines.splitlines()]
    stories = {u: story for u, story in newsroom.stories().items() if story.section not in LEFT_OUT}
    assert sorted(item["url"] for item in items) == sorted(stories)
    for item in items:
        check_fields(item, stories[item["url"]])
        assert item["board"] == stories[item["url"]].paper
    check_duplicates(items, newsroom)


@pytest.mark.usefixtures("has_mongod")
def test_one_command_fills_a_collection_of_mongodb(root: Path) -> None:
    with running("news", root, "--keep") as run:
        look, show = told_commands(run)
        newsroom = newsroom_of(run)
        assert "10 items" in shell(look)
        words = shlex.split(look)
        everything = shlex.join([*words[: words.index("--unique")], "--format=jsonl"])
        check_collection(shell(everything), newsroom)
        stories = [s for s in newsroom.stories().values() if s.section not in LEFT_OUT]
        assert f"\n{len(stories)} articles are in the collection." in run.said()
        for paper, number in Counter(story.paper for story in stories).items():
            assert f"\n{paper}: {number} articles, the newest:\n" in run.said()
        repeats = sum(story.duplicate_of is not None for story in stories)
        assert run.said().count("One story, printed more than once:") == repeats
        assert "articles 89" in shell(show)
        assert run.interrupt() == 0


@pytest.mark.long
@pytest.mark.usefixtures("has_mongod")
def test_ctrl_c_in_the_middle_ends_everything(root: Path) -> None:
    with running("news", root) as run:
        run.wait_for(r"\$ weft crawl ")
        assert run.interrupt() == 130
        assert "Traceback" not in run.said()


@pytest.mark.usefixtures("has_mongod")
def test_without_mongodb_it_says_what_to_do(root: Path, tmp_path: Path) -> None:
    script = root / "examples/news/run.py"
    alone = os.environ | {"PYTHONPATH": "", "PATH": str(tmp_path)}
    done = subprocess.run([sys.executable, script], env=alone, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("run.py: no MongoDB can be started here: ")
    assert done.stderr.endswith("or name one that runs: run.py mongodb://HOST/DB/articles\n")


@pytest.mark.long
def test_a_collection_of_ours_can_be_named(root: Path, mongodb: MongoServer) -> None:
    *_, [with_sink] = [block for block in shell_blocks("news") if "run.py mongodb" in block[0]]
    address = mongodb.address("articles")
    given = with_sink.split()[-1]
    assert given.startswith("mongodb://")
    with running("news", root, address, "--workers=1") as run:
        newsroom = newsroom_of(run)
        assert run.process.wait(60) == 0
    lines = Weft(root)("items", address, "--format=jsonl").stdout
    check_collection(lines, newsroom)


@contextmanager
def papers(command: str) -> Iterator[Newsroom]:
    """Runs the command that serves them, but for its port."""
    *words, _ = shlex.split(command)
    with nursery.Popen([*words, "0"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            bases = {paper.name: process.stdout.readline().strip() for paper in PAPERS}
            yield Newsroom(bases)
        finally:
            process.kill()


@pytest.mark.long
def test_the_commands_for_the_hand_work(root: Path, mongodb: MongoServer) -> None:
    """As they stand in the README, but for the addresses of the papers and the database."""
    _, _, [serve], [_, *commands], _ = shell_blocks("news")
    address = mongodb.address("articles")
    here = root / "examples/news"
    with papers(serve) as newsroom:
        for path in (here / "boards").iterdir():
            text = path.read_text("utf-8")
            for place, base in enumerate(newsroom.bases.values(), 1):
                text = text.replace(f"http://127.0.0.{place}:8000", base)
            path.write_text(text, "utf-8")
        for command in commands:
            ours = command.replace("mongodb://localhost/news/articles", shlex.quote(address))
            shell(f"cd {shlex.quote(str(here))} && {ours}")
    check_collection(Weft(here)("items", address, "--format=jsonl").stdout, newsroom)
