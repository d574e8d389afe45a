"""Moments as people give them."""

import time
from collections.abc import Iterator

import pytest

from weft.cli.when import parse_moment
from weft.errors import ConfigError

NOW_MS = 1_800_000_000_000


@pytest.fixture
def _in_zurich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "CET-1")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("_in_zurich")
@pytest.mark.parametrize(
    ("text", "at_ms"),
    [
        ("30m", NOW_MS - 30 * 60_000),
        ("3h", NOW_MS - 3 * 3_600_000),
        ("2d", NOW_MS - 48 * 3_600_000),
        ("1970-01-02", 23 * 3_600_000),
        ("1970-01-02T12:30", 35 * 3_600_000 + 30 * 60_000),
        ("1970-01-02 12:30:01", 35 * 3_600_000 + 30 * 60_000 + 1000),
        ("1970-01-01T00:00:01Z", 1000),
        ("1970-01-01T01:00:01+01:00", 1000),
    ],
)
def test_moments(text: str, at_ms: int) -> None:
    assert parse_moment(text, NOW_MS) == at_ms


@pytest.mark.parametrize("text", ["", "h", "3", "3x", "-3h", "yesterday", "2026-13-01", "9" * 30])
def test_what_is_no_moment_is_told_with_the_forms(text: str) -> None:
    with pytest.raises(ConfigError, match=r"write a day like 2026-11-01.*30m, 3h, 2d"):
        parse_moment(text, NOW_MS)
