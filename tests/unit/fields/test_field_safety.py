"""Rules and pages that would take for ever, or read what they must not."""

import threading
from pathlib import Path

import pytest

from weft.boards.fields import FoundFields, apply_rules, parse_rules
from weft.boards.fields.background import MAX_OVERDUE, runs_within
from weft.boards.reading.page import Page
from weft.clock import monotonic_s

#: More than any of these takes on a machine that does other things, too.
SOON_S = 5


def find(fields: str, page: str, seconds: float = 0.5) -> FoundFields:
    return apply_rules(
        Page(page), parse_rules(b"fields: {%b}" % fields.encode(), "r"), seconds=seconds
    )


@pytest.mark.parametrize(
    "way",
    [
        "{regex: '(a|aa)+$'}",
        "{css: p, steps: [regex: '(a|aa)+$']}",
        "{css: p, steps: [replace: {'(a|aa)+$': x}]}",
    ],
)
def test_a_regex_without_end_is_stopped_and_told(way: str) -> None:
    started_s = monotonic_s()
    found = find(f"slow: {way}", "<p>" + "a" * 200 + "!")
    assert monotonic_s() - started_s < SOON_S
    assert found.unmatched == ("slow",)
    assert "took too long" in found.problems["slow"]


def test_a_slow_xpath_is_given_up_and_keeps_what_was_found_before() -> None:
    page = "<h2>Sea</h2>" + "<li>x<a>y</a></li>" * 3000
    started_s = monotonic_s()
    found = find("sea: h2, slow: {xpath: //li/following::a}, late: h2", page, 0.2)
    assert monotonic_s() - started_s < SOON_S
    assert found.values == {"extra": {"sea": "Sea"}}
    assert found.unmatched == ("slow", "late")


def test_elements_with_the_same_text_again_and_again_are_not_all_read() -> None:
    started_s = monotonic_s()
    find("all: {xpath: //div, steps: [all]}", "<div>" * 1900 + "word " * 100_000)
    assert monotonic_s() - started_s < SOON_S


def test_pages_with_too_many_tags_are_not_parsed_again() -> None:
    found = find("a: b, c: {regex: '(x)'}", "<b>" * 50_001 + "x")
    assert found.values == {"extra": {"c": "x"}}
    assert "50,000 tags" in found.problems["a"]


def test_entities_do_not_read_files(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("treasure")
    page = f'<!DOCTYPE html [<!ENTITY x SYSTEM "{secret.as_uri()}">]><p>&x; here</p>'
    assert "treasure" not in find("a: {xpath: string(/)}", page).values["extra"]["a"]


def test_no_more_threads_are_begun_when_some_do_not_end() -> None:
    gate = threading.Event()

    def hold() -> None:
        gate.wait(60)

    try:
        for _ in range(MAX_OVERDUE):
            assert not runs_within(0.01, hold)
        begun: list[int] = []
        assert not runs_within(5, lambda: begun.append(1))
        assert begun == []
    finally:
        gate.set()
    deadline_s = monotonic_s() + SOON_S
    while not runs_within(5, lambda: begun.append(1)):
        assert monotonic_s() < deadline_s
    assert begun == [1]


def test_what_the_work_raises_is_raised() -> None:
    def fail() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        runs_within(5, fail)
