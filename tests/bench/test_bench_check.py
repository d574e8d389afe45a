"""Whether a contestant did its work is told by its output alone."""

import json
from pathlib import Path

import pytest

from bench.crawlers.check import Verdict, check

TITLES = {"http://127.0.0.1/a": "A", "http://127.0.0.1/b": "B & C", "http://127.0.0.1/c": "C"}
ITEMS = [{"url": url, "title": title, "depth": 1} for url, title in TITLES.items()]


def checked(directory: Path, *parts: list[dict[str, object]], more: str = "") -> Verdict:
    outputs = [directory / f"{number}.jsonl" for number in range(len(parts))]
    for output, items in zip(outputs, parts, strict=True):
        output.write_text("".join(f"{json.dumps(item)}\n" for item in items) + more)
    return check(outputs, TITLES)


def test_every_page_once_is_right_however_many_outputs_there_are(tmp_path: Path) -> None:
    verdict = checked(tmp_path, list(ITEMS[:1]), list(ITEMS[1:]))
    assert verdict.is_right
    assert str(verdict) == "right"


@pytest.mark.parametrize(
    ("items", "told"),
    [
        (ITEMS[:1], "WRONG: 2 missing"),
        ([*ITEMS, ITEMS[0]], "WRONG: 1 twice"),
        ([*ITEMS, {"url": "http://127.0.0.1/x", "title": "X"}], "WRONG: 1 of other sites"),
        ([*ITEMS[:2], {**ITEMS[2], "title": "D"}], "WRONG: 1 with a wrong title"),
        ([ITEMS[0], ITEMS[0], ITEMS[1]], "WRONG: 1 missing, 1 twice"),
        ([*ITEMS, {"url": "http://127.0.0.1/a"}], "WRONG: 1 unreadable"),
        ([], "WRONG: 3 missing"),
    ],
)
def test_what_is_wrong_is_counted(
    tmp_path: Path, items: list[dict[str, object]], told: str
) -> None:
    verdict = checked(tmp_path, items)
    assert not verdict.is_right
    assert str(verdict) == told


def test_a_line_that_was_cut_off_is_unreadable(tmp_path: Path) -> None:
    assert str(checked(tmp_path, list(ITEMS), more='{"url": "ht')) == "WRONG: 1 unreadable"


def test_an_output_that_was_never_written_has_no_pages(tmp_path: Path) -> None:
    assert check([tmp_path / "none.jsonl"], TITLES).missing == 3
