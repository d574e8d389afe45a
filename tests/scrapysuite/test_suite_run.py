"""Tests run in processes of their own, with the add-on in every crawler."""

from pathlib import Path

from scrapysuite.run import run_on_weft, run_plain
from scrapysuite.verdicts import State, Verdicts

SCHEDULER = """
import subprocess, sys

CODE = '''
from scrapy.utils.test import get_crawler
crawler = get_crawler(settings_dict={"ADDONS": {}})
print(crawler.settings["SCHEDULER"], crawler.settings["ADDONS"].attributes)
'''

def test_weft_is_in_every_process():
    said = subprocess.check_output([sys.executable, "-c", CODE], text=True)
    assert said == "weft.engine.scrapy.scheduler.Scheduler {}\\n"
"""

TROUBLE = """
import os
import pytest

def test_passes(): pass
def test_fails(): assert 1 == 2, "no"
def test_is_skipped(): pytest.skip()
def test_ends_the_process(): os._exit(1)
def test_runs_after_that(): pass
@pytest.mark.xfail
def test_is_expected_to_fail(): assert False
@pytest.fixture
def late(): yield; raise OSError("late")
def test_fails_at_its_end(late): pass
"""


def run(tree: Path) -> Verdicts:
    return run_on_weft(tree, tree / "on-weft.jsonl", str(tree), ["test_it.py"])


def test_each_test_has_a_verdict_even_if_one_ends_the_process(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TROUBLE)
    verdicts = run(tmp_path)
    states = {name.partition("::test_")[2]: state for name, (state, _) in verdicts.items()}
    assert states == {
        "passes": State.PASSED,
        "fails": State.FAILED,
        "is_skipped": State.SKIPPED,
        "ends_the_process": State.FAILED,
        "runs_after_that": State.PASSED,
        "is_expected_to_fail": State.PASSED,
        "fails_at_its_end": State.FAILED,
    }
    assert verdicts["test_it.py::test_fails"].error.startswith("AssertionError: no")
    assert verdicts["test_it.py::test_fails_at_its_end"].error == "teardown: OSError: late"


def test_the_add_on_is_in_crawlers_of_subprocesses(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(SCHEDULER)
    test = "test_it.py::test_weft_is_in_every_process"
    on_weft = run(tmp_path)
    assert on_weft[test].state is State.PASSED, on_weft[test].error
    plain = run_plain(tmp_path, tmp_path / "plain.jsonl", [test])
    assert plain[test].state is State.FAILED


def test_without_weft_only_chosen_tests_run(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TROUBLE)
    chosen = ["test_it.py::test_fails", "test_it.py::test_there_is_no_such_test"]
    assert run_plain(tmp_path, tmp_path / "plain.jsonl", []) == {}
    assert list(run_plain(tmp_path, tmp_path / "plain.jsonl", chosen)) == chosen[:1]


def test_a_file_that_cannot_be_imported_has_failed(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("import nothing_of_this_name")
    verdicts = run(tmp_path)
    assert verdicts["test_it.py"].state is State.FAILED
    assert "nothing_of_this_name" in verdicts["test_it.py"].error
