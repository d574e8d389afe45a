"""Adds up the messages of several workers to those of one crawl."""

from collections import Counter
from collections.abc import Sequence

from weft.records import Stats
from weft.reports import Progress, Report

#: Scrapy's reason for a worker that has seen that everything is done.
FINISHED = "finished"
#: The reason for one that has crawled its share of the pages; the others may still have work.
ENOUGH = "max_pages"


class Tally:
    """What all processes have reported so far, including dead ones."""

    def __init__(self) -> None:
        self._progress: dict[int, Progress] = {}
        self._reports: list[Report] = []
        self._stats = Stats()

    def note(self, process: int, progress: Progress) -> None:
        self._progress[process] = progress
        if progress.stats.added:  # else it has not looked yet
            self._stats = progress.stats

    def note_report(self, process: int, report: Report) -> None:
        self.note(process, report.progress)
        self._reports.append(report)

    def pages_of(self, process: int) -> int:
        told = self._progress.get(process)
        return told.pages if told else 0

    def progress(self, elapsed_s: float, *, is_stopping: bool) -> Progress:
        parts = self._progress.values()
        return Progress(
            elapsed_s=elapsed_s,
            pages=sum(part.pages for part in parts),
            items=sum(part.items for part in parts),
            errors=sum(part.errors for part in parts),
            stats=self._stats,
            is_stopping=is_stopping,
        )

    def report(self, progress: Progress, stopped_by: str) -> Report:
        return merge_reports(self._reports, progress, stopped_by)


def merge_reports(reports: Sequence[Report], progress: Progress, stopped_by: str) -> Report:
    """One report for all of `reports`, which may be empty. `stopped_by`: why they were told to
    stop, if they were."""
    failures: Counter[str] = Counter()
    for report in reports:
        failures.update(report.failures)
    is_finished = any(report.reason == FINISHED for report in reports)
    return Report(
        reason=FINISHED if is_finished else stopped_by or ENOUGH,
        progress=progress,
        sinks=next((report.sinks for report in reports if report.sinks), ()),
        failures=dict(failures.most_common()),
        refused=sum(report.refused for report in reports),
        item_errors=sum(report.item_errors for report in reports),
        dead_letters=sum(report.dead_letters for report in reports),
        error=next((report.error for report in reports if report.error), None),
    )
