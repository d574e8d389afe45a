from datetime import UTC, datetime
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given
from scrapy.exceptions import CannotResolveHostError, DownloadTimeoutError, IgnoreRequest

from weft.engine.claims.outcome import Fate, retry_after_ms
from weft.records import Claim, Ending, Outcome, PackedRequest

CLAIM = Claim(5, PackedRequest(1, "http://h/", "h"), "me", 0, 0)
NOW = datetime(2024, 5, 1, 12, 0, 0, tzinfo=UTC)


def fate(**known: Any) -> Fate:
    return Fate(CLAIM, **known)


@pytest.mark.parametrize(
    ("known", "ending", "note"),
    [
        ({"is_answered": True, "is_handled": True, "status": 200}, Ending.DONE, ""),
        ({"is_answered": True, "is_handled": True, "status": 404}, Ending.DONE, ""),
        ({"is_answered": True, "status": 404}, Ending.FAILED, "status 404"),
        ({"is_answered": True, "status": 200}, Ending.DONE, ""),
        ({"status": 302}, Ending.REPLACED, "redirected"),
        ({"status": 503}, Ending.REPLACED, "retried"),
        ({}, Ending.REPLACED, "retried"),
        ({"fetch_error": "TimeoutError"}, Ending.REPLACED, "TimeoutError"),
        (
            {"is_answered": True, "is_handled": True, "status": 200, "spider_error": "it raised"},
            Ending.FAILED,
            "it raised",
        ),
        ({"error": DownloadTimeoutError("slow")}, Ending.FAILED, "DownloadTimeoutError: slow"),
        ({"error": ValueError()}, Ending.FAILED, "ValueError"),
        (
            {"error": IgnoreRequest("Forbidden by robots.txt")},
            Ending.DROPPED,
            "Forbidden by robots.txt",
        ),
        ({"error": IgnoreRequest()}, Ending.DROPPED, "ignored by a downloader middleware"),
    ],
)
def test_ending_follows_from_what_is_known(
    known: dict[str, Any], ending: Ending, note: str
) -> None:
    outcome = fate(**known).outcome()
    assert (outcome.token, outcome.ending, outcome.note) == (5, ending, note)
    assert not outcome.is_host_bad


def test_host_that_cannot_be_resolved_is_bad() -> None:
    outcome = fate(error=CannotResolveHostError("h"), is_sent=True).outcome()
    assert outcome == Outcome(5, Ending.FAILED, 0, "CannotResolveHostError: h", is_host_bad=True)


def test_what_the_server_asks_for_is_passed_on() -> None:
    outcome = fate(is_answered=True, status=429, retry_after_ms=7, crawl_delay_ms=8).outcome()
    assert (outcome.status, outcome.retry_after_ms, outcome.crawl_delay_ms) == (429, 7, 8)


@pytest.mark.parametrize(
    ("known", "is_page"),
    [
        ({"is_answered": True, "is_handled": True}, True),
        ({"is_answered": True, "is_handled": True, "spider_error": "it raised"}, True),
        ({"is_answered": True}, False),
        ({"is_handled": True}, False),
        ({"is_answered": True, "is_handled": True, "error": ValueError()}, False),
    ],
)
def test_page_is_what_the_spider_got(known: dict[str, Any], is_page: bool) -> None:
    assert fate(**known).is_page is is_page


@pytest.mark.parametrize(
    ("value", "ms"),
    [
        (b"0", 0),
        (b"120", 120_000),
        (b" 5 ", 5_000),
        (b"Wed, 01 May 2024 12:00:30 GMT", 30_000),
        (b"Wed, 01 May 2024 14:00:30 +0200", 30_000),
        (b"Wed, 01 May 2024 11:00:00 GMT", 0),
        (None, 0),
        (b"", 0),
        (b"-5", 0),
        (b"1.5", 0),
        (b"soon", 0),
        (b"\xff\xfe", 0),
        ("٣".encode(), 0),
        (b"Wed, 01 May 2024 12:00:30 -0000", 0),
        (b"Wed, 99 May 2024 12:00:30 GMT", 0),
        (b"Wed, 01 May 2024 12:00:30 +99999999999999999999", 0),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: bytes | None, ms: int) -> None:
    assert retry_after_ms(value, NOW) == ms


def test_huge_retry_after_still_fits_into_a_store() -> None:
    assert 0 < retry_after_ms(b"9" * 10_000, NOW) < 2**53
    assert 0 < retry_after_ms(b"Fri, 31 Dec 9999 23:59:59 GMT", NOW) < 2**53


@given(
    st.one_of(st.binary(max_size=40), st.from_regex(rb"\AWed, \d+ May \d+ \d+:\d+:\d+ [+-]\d+\Z"))
)
def test_no_retry_after_is_an_error(value: bytes) -> None:
    assert 0 <= retry_after_ms(value, NOW) < 2**53
