"""What the leaner parts of Scrapy leave out is nothing that Scrapy would have found."""

import logging
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scrapy import Request, Spider, signals
from scrapy.http import HtmlResponse, Response
from scrapy.logformatter import LogFormatter
from scrapy.signalmanager import SignalManager
from scrapy.utils.response import get_meta_refresh
from w3lib.url import safe_url_string

from weft.engine.scrapy import listeners
from weft.engine.scrapy.lean.downloading import may_refresh
from weft.engine.scrapy.lean.logs import LeanLogFormatter, is_heard
from weft.engine.scrapy.lean.signals import LeanSignals
from weft.engine.scrapy.lean.urls import make_urls_safe_quickly

URL = "http://h/"
TAGS = ("<meta ", "http-equiv=", "'refresh'", '"Refresh"', "content='0;url=/x'", "content=1", ">")
TEXTS = ("<noscript>", "</noscript>", "<!--", "-->", "&#114;efresh", "REFRESH", " ", "x" * 2000)
PIECES = st.sampled_from((*TAGS, *TEXTS, "é"))


@given(st.lists(PIECES), st.sampled_from(["utf-8", "utf-16", "latin-1"]))
def test_a_page_that_scrapy_would_refresh_is_not_passed_over(
    pieces: list[str], encoding: str
) -> None:
    page = HtmlResponse(URL, body="".join(pieces), encoding=encoding)
    _, url = get_meta_refresh(page)
    assert may_refresh(page) or url is None


@pytest.mark.parametrize(
    ("body", "is_possible"),
    [
        (b"<meta http-equiv=refresh content='0;url=/x'>", True),
        (b"<META HTTP-EQUIV=REFRESH>", True),
        (b"<p>text", False),
        (b"x" * 4096 + b"refresh", False),
    ],
)
def test_few_pages_are_looked_into(body: bytes, is_possible: bool) -> None:
    assert may_refresh(HtmlResponse(URL, body=body)) is is_possible
    assert not may_refresh(Response(URL, body=body))


# Log lines


@pytest.mark.parametrize(
    ("level", "handler_level", "is_it"),
    [
        (logging.DEBUG, logging.DEBUG, True),
        (logging.DEBUG, logging.NOTSET, True),
        (logging.DEBUG, logging.INFO, False),
        (logging.INFO, logging.DEBUG, False),
    ],
)
def test_a_line_is_heard_if_logger_and_handler_let_it_pass(
    level: int, handler_level: int, is_it: bool
) -> None:
    logger = logging.Logger("test", level)
    assert not is_heard(logger, logging.DEBUG)
    logger.addHandler(logging.NullHandler(handler_level))
    assert is_heard(logger, logging.DEBUG) is is_it


def test_handlers_of_parents_hear_it_too() -> None:
    parent, child = logging.Logger("parent"), logging.Logger("child", logging.DEBUG)
    child.parent = parent
    parent.addHandler(logging.NullHandler(logging.DEBUG))
    assert is_heard(child, logging.DEBUG)
    child.propagate = False
    assert not is_heard(child, logging.DEBUG)


def test_lines_that_are_heard_are_those_of_scrapy(caplog: pytest.LogCaptureFixture) -> None:
    request, response, spider = Request(URL), Response(URL), Spider("s")
    with caplog.at_level(logging.DEBUG):
        ours, scrapys = LeanLogFormatter(), LogFormatter()
        for lines in zip(
            (ours.crawled(request, response, spider), ours.scraped({}, response, spider)),
            (scrapys.crawled(request, response, spider), scrapys.scraped({}, response, spider)),
            strict=True,
        ):
            assert lines[0] == lines[1]
    with caplog.at_level(logging.INFO):
        assert ours.crawled(request, response, spider) is None
        assert ours.scraped({}, response, spider) is None


# Signals


def test_receivers_hear_what_either_manager_sends() -> None:
    sender = object()
    lean, scrapys = LeanSignals(sender), SignalManager(sender)
    heard: list[Any] = []

    def receive(item: Any) -> None:
        heard.append(item)

    assert not listeners.is_heard(sender, signals.item_scraped)
    assert lean.send_catch_log(signals.item_scraped, item=0) == []
    scrapys.connect(receive, signals.item_scraped)
    assert listeners.is_heard(sender, signals.item_scraped)
    assert lean.send_catch_log(signals.item_scraped, item=1) == [(receive, None)]
    lean.disconnect(receive, signals.item_scraped)
    assert not listeners.is_heard(sender, signals.item_scraped)
    assert lean.send_catch_log(signals.item_scraped, item=2) == []
    assert heard == [1]


# URLs


HOST_TEXTS = st.text("aB.-:0189_@[]%é ", max_size=12)
PATH_TEXTS = st.one_of(st.text(max_size=20), st.text("a/.:?#%&;'\\~|", max_size=12))


@given(
    st.sampled_from(["http", "https", "HTTP", "ftp", "data"]),
    st.one_of(st.just("h"), HOST_TEXTS),
    PATH_TEXTS,
    st.sampled_from(["utf-8", "latin-1", "utf-16", "cp037"]),
)
@example("http", "h", "a", "utf-16")
@example("http", "h", "a?b=c#d", "cp037")
@example("http", "h:80", "a", "utf-8")
def test_urls_that_are_made_safe_quickly_are_those_of_scrapy(
    scheme: str, host: str, path: str, encoding: str
) -> None:
    make_urls_safe_quickly()
    make_urls_safe_quickly()
    url = f"{scheme}://{host}/{path}"
    try:
        theirs = safe_url_string(url, encoding)
    except ValueError as problem:
        with pytest.raises(type(problem)):
            Request(url, encoding=encoding)
    else:
        assert [Request(url, encoding=encoding).url for _ in range(2)] == [theirs, theirs]
