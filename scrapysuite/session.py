"""`python -P session.py FILE TESTS [ARGUMENT …]`: a pytest that writes down what each test does.

FILE has JSON lines. A test that has not ended there made the process die, for example by taking too
long; tests that it names are not run again. So the same command, repeated, gets to the end. TESTS
is a file with the ids of the tests to run, or empty for all.

This is a script, so that the project is not on the path of Scrapy's tests: both have `tests`.
"""

import json
import sys
from pathlib import Path
from typing import Any, TextIO

import pytest


class Recorder:
    """A plugin of pytest."""

    def __init__(self, path: Path, chosen: set[str] | None) -> None:
        self._path = path
        self._chosen = chosen
        self._known = _started(path)
        self._file: TextIO | None = None
        self._reports: dict[str, list[pytest.TestReport]] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        others = [item for item in items if not self._is_due(item.nodeid)]
        items[:] = [item for item in items if self._is_due(item.nodeid)]
        config.hook.pytest_deselected(items=others)

    def _is_due(self, test: str) -> bool:
        return test not in self._known and (self._chosen is None or test in self._chosen)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and report.nodeid not in self._known:
            self._write(id=report.nodeid, state="failed", error=_last_line(report.longreprtext))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._reports[nodeid] = []
        self._write(id=nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._reports[report.nodeid].append(report)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._write(id=nodeid, **_outcome(self._reports.pop(nodeid)))

    def pytest_sessionfinish(self) -> None:
        self._write(is_complete=True)

    def _write(self, **record: Any) -> None:
        if self._file is None:
            self._file = self._path.open("a")
        self._file.write(json.dumps(record) + "\n")
        self._file.flush()


def _started(path: Path) -> set[str]:
    if not path.exists():
        return set()
    lines = path.read_text().splitlines()
    return {record["id"] for record in map(json.loads, lines) if "id" in record}


def _outcome(reports: list[pytest.TestReport]) -> dict[str, Any]:
    """Of all phases of a test: an error at its end counts too."""
    failed = next((each for each in reports if each.failed), None)
    if failed:
        return {"state": "failed", "error": _error(failed)}
    skipped = next((each for each in reports if each.skipped), None)
    # What is expected to fail and does is as good as what passes.
    if skipped and not hasattr(skipped, "wasxfail"):
        return {"state": "skipped"}
    return {"state": "passed"}


def _error(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else _last_line(report.longreprtext)
    return f"{report.when}: {text}" if report.when != "call" else text


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1]


if __name__ == "__main__":
    file, tests, *arguments = sys.argv[1:]
    chosen = set(Path(tests).read_text().splitlines()) if tests else None
    sys.exit(pytest.main(arguments, plugins=[Recorder(Path(file), chosen)]))
