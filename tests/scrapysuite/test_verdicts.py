"""Which tests of Scrapy's suite may fail, and what is said when others do."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from scrapysuite.report import make_table
from scrapysuite.verdicts import (
    DIFFERENCES,
    Comparison,
    State,
    Verdict,
    compare,
    read_differences,
)
from weft.errors import ConfigError

PASSED, FAILED, SKIPPED = map(Verdict, State)


def compared(
    on_weft: Verdict, plain: Verdict, listed: Sequence[str] = (), *, is_whole: bool = True
) -> Comparison:
    return compare({"a": on_weft}, {"a": plain}, listed, is_whole=is_whole)


def test_a_failure_with_weft_only_is_wrong() -> None:
    assert compared(FAILED, PASSED).failed == ["a"]
    assert compared(FAILED, SKIPPED).failed == ["a"]
    assert not compared(FAILED, PASSED).is_right


def test_a_failure_without_weft_too_does_not_count() -> None:
    assert compared(FAILED, FAILED).is_right


def test_a_listed_test_may_fail_or_be_skipped() -> None:
    assert compared(FAILED, PASSED, ["a"]).is_right
    assert compared(SKIPPED, SKIPPED, ["a"]).is_right


def test_a_listed_test_that_passes_is_wrong() -> None:
    assert compared(PASSED, PASSED, ["a"]).passed == ["a"]
    assert not compared(PASSED, PASSED, ["a"]).is_right


def test_a_listed_test_that_is_not_there_is_wrong_if_all_were_to_run() -> None:
    assert compared(PASSED, PASSED, ["b"]).missing == ["b"]
    assert compared(PASSED, PASSED, ["b"], is_whole=False).is_right


def test_a_test_of_our_handler_is_excused_by_the_same_test_of_scrapys() -> None:
    ours, theirs = (
        "tests/test_weft_http.py::T::t",
        "tests/test_downloader_handler_twisted_http11.py::T::t",
    )
    assert compare({ours: FAILED}, {theirs: FAILED}, [], is_whole=True).is_right
    assert compare({ours: FAILED}, {theirs: PASSED}, [], is_whole=True).failed == [ours]


def test_differences_are_those_of_the_store(tmp_path: Path) -> None:
    path = tmp_path / "differences.toml"
    everywhere, redis = (
        '{reason = "x", tests = ["a"]}',
        '{reason = "y", store = "redis", tests = ["b"]}',
    )
    path.write_text(f"difference = [{everywhere}, {redis}]")
    assert [each.reason for each in read_differences(path, is_redis=False)] == ["x"]
    assert [each.reason for each in read_differences(path, is_redis=True)] == ["x", "y"]


def test_a_test_with_two_reasons_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "differences.toml"
    path.write_text('difference = [{reason = "x", tests = ["a"]}, {reason = "y", tests = ["a"]}]')
    with pytest.raises(ConfigError, match="give each test one reason"):
        read_differences(path, is_redis=False)


@pytest.mark.parametrize("is_redis", [False, True], ids=["embedded", "redis"])
def test_few_tests_may_fail(is_redis: bool) -> None:
    differences = read_differences(DIFFERENCES, is_redis=is_redis)
    assert sum(len(each.tests) for each in differences) <= 40


def test_the_table_counts_by_area() -> None:
    on_weft = {
        "tests/test_crawl.py::a": PASSED,
        "tests/test_crawl.py::b": FAILED,
        "tests/test_crawl.py::c": FAILED,
        "tests/test_utils_misc/__init__.py::d": SKIPPED,
    }
    table = make_table(on_weft, {"tests/test_crawl.py::c": FAILED}).splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    assert rows[2] == ["Crawls, engine, start requests", "3", "1", "0", "1", "1"]
    assert rows[3:] == [["The rest", "1", "0", "1", "0", "0"], ["all", "4", "1", "1", "1", "1"]]
