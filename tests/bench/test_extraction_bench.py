"""`make bench-extract` on pages of ours, labelled as a scorer of others would have them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.extraction.__main__ import WITH_WEFT

PAGES = Path(__file__).parents[1] / "pages"
CASES = ("title-section-site", "press-release", "recipe", "card-grid-overlays")

#: Where pages are, and how they are scored: titles only, since that is enough to see the table.
SCORER = f"""
import json
from pathlib import Path
from typing import Any, NamedTuple

CASES = {CASES!r}
FOLDER = Path({str(PAGES)!r})

class Page(NamedTuple):
    set: str
    id: str
    url: str
    encoding: str | None
    title: str

    def read(self):
        return (FOLDER / self.id / "page.html").read_bytes()

class Case(NamedTuple):
    page: Page
    said: dict[str, Any]

def pages(folder):
    for case in CASES:
        label = json.loads((FOLDER / case / "expected.json").read_text())
        yield Page("ours", case, label["url"], label.get("header_charset"), label.get("title", ""))

def rows(cases):
    yield "ours", cases

def text_row(cases):
    titled = [case for case in cases if case.page.title]
    right = sum(case.said.get("title") == case.page.title for case in titled) / len(titled)
    return [None] * 6 + [right] + [None] * 5

def kind_row(cases):
    return [None] * 6

def link_row(cases):
    return [None] * 8
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "score.py").write_text(SCORER)
    return tmp_path


def bench(*words: str | Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "bench.extraction", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=110)


def test_the_table_has_a_row_for_each_reader(folder: Path) -> None:
    done = bench("--pages", folder, "--only", *WITH_WEFT, "--predictions", folder / "said")
    assert done.returncode == 0, done.stderr
    rows = [line.split("|") for line in done.stdout.splitlines() if line.startswith("| ours")]
    assert [row[2].strip() for row in rows] == list(WITH_WEFT)
    assert float(rows[0][6]) == 1.0
    assert all(float(row[-3]) > 0 for row in rows)
    said = (folder / "said/weft.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in said] == list(CASES)


def test_a_reader_that_is_not_installed_does_not_take_part(folder: Path) -> None:
    done = bench("--pages", folder, "--only", "newspaper4k", "weft", "--peers", "no-python")
    assert done.returncode == 0, done.stderr
    assert "newspaper4k does not take part" in done.stderr
    assert "| weft" in done.stdout


def test_a_folder_without_a_scorer_is_told(tmp_path: Path) -> None:
    done = bench("--pages", tmp_path)
    assert done.returncode == 1
    assert "score.py" in done.stderr
