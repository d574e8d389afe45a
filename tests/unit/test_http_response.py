"""The parts of a response, beside those that Scrapy makes."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydispatch import dispatcher
from scrapy import Spider, signals
from scrapy.http import Headers
from scrapy.responsetypes import responsetypes
from scrapy.utils.test import get_crawler

from weft.engine.http.answer import Answer
from weft.engine.http.answerlimits import AnswerLimits
from weft.engine.http.deadlines import LOOK_S, Deadlines
from weft.engine.http.response import class_of
from weft.engine.scrapy.listeners import is_heard

NAMES = st.sampled_from([b"Content-Type", b"content-type", b"SET-COOKIE", b"x-foo2bar", b"Server"])
VALUES = st.sampled_from([b"", b"a", b" b ", b"text/html", b"text/html; charset=x", b"\xff"])


@given(st.lists(st.tuples(NAMES, VALUES)))
def test_headers_are_those_that_scrapy_would_make(pairs: list[tuple[bytes, bytes]]) -> None:
    answer = Answer(is_head=False)
    for name, value in pairs:
        answer.add(name, value)
    expected = Headers([(name, value.strip()) for name, value in pairs])
    made = answer.headers()
    assert type(made) is Headers
    assert list(made.items()) == list(expected.items())
    assert made.to_string() == expected.to_string()


TYPES = ["", "text/html", "TEXT/HTML; charset=x", "application/json", "image/png", "text/css", "x"]
URLS = ["http://a.test/", "http://a.test/a.json", "http://a.test/a.gz", "http://a.test/a.xml"]
BODIES = [b"", b"<html>", b"<?xml", b"\x00\x01", b"text"]


@given(
    st.sampled_from(TYPES),
    st.sampled_from(["", "gzip"]),
    st.sampled_from(["", 'attachment; filename="a.json"']),
    st.sampled_from(URLS),
    st.sampled_from(BODIES),
)
def test_a_response_has_the_class_that_scrapy_would_give_it(
    content_type: str, encoding: str, disposition: str, url: str, body: bytes
) -> None:
    given_headers = {
        "Content-Type": content_type,
        "Content-Encoding": encoding,
        "Content-Disposition": disposition,
    }
    headers = Headers({name: value for name, value in given_headers.items() if value})
    expected = responsetypes.from_args(headers=headers, url=url, body=body)
    assert class_of(headers, url, body) is expected


LIMITS = AnswerLimits(max_bytes=1, warn_bytes=2, fails_on_loss=True)


def test_meta_changes_what_an_answer_is_allowed() -> None:
    assert LIMITS.changed_by({"depth": 1}) is LIMITS
    assert LIMITS.changed_by({"download_maxsize": 0}) == AnswerLimits(0, 2, True)
    meta = {"download_warnsize": 5, "download_fail_on_dataloss": False}
    assert LIMITS.changed_by(meta) == AnswerLimits(1, 5, False)


def listen() -> None: ...


@pytest.mark.parametrize("signal", [signals.bytes_received, dispatcher.Any])
@pytest.mark.parametrize("is_for_all", [True, False])
def test_a_signal_is_heard_while_somebody_listens(signal: object, is_for_all: bool) -> None:
    crawler = get_crawler(Spider)
    sender = {"sender": dispatcher.Any} if is_for_all else {}
    assert not is_heard(crawler, signals.bytes_received)
    crawler.signals.connect(listen, signal, **sender)
    assert is_heard(crawler, signals.bytes_received)
    assert is_heard(get_crawler(Spider), signals.bytes_received) is is_for_all
    crawler.signals.disconnect(listen, signal, **sender)
    assert not is_heard(crawler, signals.bytes_received)


class Egg:
    def __init__(self) -> None:
        self.is_expired = False

    def expire(self) -> None:
        self.is_expired = True


async def test_what_is_not_done_in_time_expires() -> None:
    now_s = asyncio.get_running_loop().time()
    deadlines = Deadlines()
    due, done, later = Egg(), Egg(), Egg()
    deadlines.add(due, now_s)
    deadlines.add(done, now_s)
    deadlines.add(later, now_s + 100)
    deadlines.discard(done)
    await asyncio.sleep(LOOK_S * 1.5)
    assert [egg.is_expired for egg in (due, done, later)] == [True, False, False]
    deadlines.close()
