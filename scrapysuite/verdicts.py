"""What became of each test, and what is to be said about it. Pure but for reading files."""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from weft.errors import ConfigError

#: Tests that may fail with Weft, and why.
DIFFERENCES = Path(__file__).parent / "differences.toml"

#: Files of tests of our own parts, and those of Scrapy's that have the same tests.
TWINS = {
    "tests/test_weft_http.py": "tests/test_downloader_handler_twisted_http11.py",
    "tests/test_weft_links.py": "tests/test_linkextractors.py",
}


class State(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


class Verdict(NamedTuple):
    state: State
    error: str = ""

    @property
    def is_failed(self) -> bool:
        return self.state is State.FAILED


#: By the id of the test.
Verdicts = Mapping[str, Verdict]

_PASSED = Verdict(State.PASSED)
_DIED = Verdict(State.FAILED, "it took too long, or ended the process of the tests")


def read_verdicts(path: Path) -> Verdicts:
    """From the file that `session.py` writes."""
    verdicts: dict[str, Verdict] = {}
    for record in _records(path):
        if "id" in record:
            verdicts[record["id"]] = _verdict(record)
    return verdicts


def is_complete(path: Path) -> bool:
    return any("is_complete" in record for record in _records(path))


def _records(path: Path) -> Iterator[dict[str, str]]:
    if path.exists():
        yield from map(json.loads, path.read_text().splitlines())


def _verdict(record: Mapping[str, str]) -> Verdict:
    if "state" not in record:
        return _DIED
    return Verdict(State(record["state"]), record.get("error", ""))


class Difference(NamedTuple):
    """Tests that may fail for one reason."""

    reason: str
    tests: Sequence[str]


def read_differences(path: Path, *, is_redis: bool) -> list[Difference]:
    """Raises ConfigError for a file that says the same twice, or says nothing."""
    store = "redis" if is_redis else "embedded"
    entries = tomllib.loads(path.read_text())["difference"]
    found = [
        Difference(entry["reason"], entry["tests"])
        for entry in entries
        if entry.get("store", store) == store
    ]
    tests = [test for each in found for test in each.tests]
    twice = {test for test in tests if tests.count(test) > 1}
    if twice or not all(each.reason for each in found):
        raise ConfigError(f"{path.name}: give each test one reason; {sorted(twice)} have several")
    return found


class Comparison(NamedTuple):
    """What is wrong with a run; nothing, if all lists are empty."""

    #: Failed because of Weft, and may not.
    failed: list[str]
    #: May fail, and passed.
    passed: list[str]
    #: May fail, and are not there.
    missing: list[str]

    @property
    def is_right(self) -> bool:
        return not any(self)


def compare(
    on_weft: Verdicts, plain: Verdicts, listed: Sequence[str], *, is_whole: bool
) -> Comparison:
    """`plain`: the verdicts without Weft. `is_whole`: all tests were to run."""
    return Comparison(
        failed=[test for test in broken(on_weft, plain) if test not in listed],
        passed=[test for test in listed if on_weft.get(test, _DIED).state is State.PASSED],
        missing=[test for test in listed if is_whole and test not in on_weft],
    )


def broken(on_weft: Verdicts, plain: Verdicts) -> list[str]:
    """Tests that fail with Weft only."""
    return [
        test
        for test, verdict in on_weft.items()
        if verdict.is_failed and not plain.get(twin(test), _PASSED).is_failed
    ]


def twin(test: str) -> str:
    """The test that runs without Weft."""
    for ours, theirs in TWINS.items():
        test = test.replace(ours, theirs)
    return test
