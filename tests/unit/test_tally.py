"""What several workers tell, added up."""

import pytest

from weft.cluster.status import Work
from weft.errors import StoreFullError
from weft.node.supervisor import Crew
from weft.node.tally import Tally
from weft.records import Stats
from weft.reports import Progress, Rate, Report, Word, decode_word, encode_word


def progress(pages: int, added: int = 0) -> Progress:
    return Progress(
        1.0, pages, items=2 * pages, errors=1, stats=Stats(added=added), is_stopping=False
    )


def report(reason: str, pages: int = 1) -> Report:
    return Report(reason, progress(pages), ("out.jsonl",), {"timeout": 1}, 1, 1, 1, None)


def merged(*reasons: str, stopped_by: str = "") -> Report:
    tally = Tally()
    for process, reason in enumerate(reasons):
        tally.note_report(process, report(reason))
    return tally.report(tally.progress(5.0, is_stopping=False), stopped_by)


def test_pages_are_those_of_all_processes_also_of_dead_ones() -> None:
    tally = Tally()
    tally.note(0, progress(3))
    tally.note(0, progress(4))
    tally.note(1, progress(10))
    told = tally.progress(7.0, is_stopping=True)
    assert (told.pages, told.items, told.errors) == (14, 28, 2)
    assert told.elapsed_s == 7.0
    assert told.is_stopping
    assert tally.pages_of(0) == 4
    assert tally.pages_of(5) == 0


def test_the_newest_look_at_the_frontier_counts() -> None:
    tally = Tally()
    tally.note(0, progress(1, added=5))
    tally.note(1, progress(1, added=9))
    tally.note(2, progress(0))  # has not looked yet
    assert tally.progress(1.0, is_stopping=False).stats.added == 9


def test_reports_become_one() -> None:
    told = merged("finished", "finished")
    assert told.reason == "finished"
    assert told.sinks == ("out.jsonl",)
    assert told.failures == {"timeout": 2}
    assert (told.refused, told.item_errors, told.dead_letters, told.error) == (2, 2, 2, None)


@pytest.mark.parametrize(
    ("reasons", "stopped_by", "reason"),
    [
        (["max_pages", "finished"], "", "finished"),
        (["max_pages", "max_pages"], "", "max_pages"),
        (["shutdown", "finished"], "", "finished"),  # one that was replaced
        (["shutdown", "shutdown"], "shutdown", "shutdown"),
        (["closespider_timeout", "shutdown"], "closespider_timeout", "closespider_timeout"),
        ([], "shutdown", "shutdown"),
    ],
)
def test_the_reason_is_that_of_the_crawl(reasons: list[str], stopped_by: str, reason: str) -> None:
    assert merged(*reasons, stopped_by=stopped_by).reason == reason


@pytest.mark.parametrize(
    ("number", "max_pages", "shares"),
    [(3, 0, [0, 0, 0]), (2, 5, [3, 2]), (4, 2, [1, 1]), (1, 7, [7])],
)
def test_workers_share_the_pages(number: int, max_pages: int, shares: list[int]) -> None:
    crew = Crew(number, Work((), {}, {}, "INFO"), max_pages=max_pages)
    assert crew.shares() == shares


def test_a_report_travels_with_its_error() -> None:
    error = StoreFullError("no space left")
    told = Report("store_error", progress(1), (), {}, 0, 0, 0, error)
    there = decode_word(encode_word(Word(report=told))).report
    assert there is not None
    assert str(there.error) == "no space left"
    assert there.progress == told.progress


def test_a_rate_is_smoothed_over_some_looks() -> None:
    rate = Rate()
    assert rate.update(10, 1.0) == 0.0
    assert rate.update(30, 2.0) == 20.0
    assert rate.update(30, 2.0) == 20.0  # no time has passed
    assert rate.update(30, 3.0) == 16.0
