from collections.abc import Sequence
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.utils.request import fingerprint as request_fingerprint

from weft.engine.requests.fingerprint import (
    Fingerprinter,
    start_fingerprint,
    unfiltered_fingerprint,
)
from weft.engine.requests.positions import Position
from weft.urls import fingerprint


class ByPath:
    """A fingerprinter as a project may write one."""

    def fingerprint(self, request: Request) -> bytes:
        return request.url.partition("?")[0].encode()


def made(headers: Sequence[str] = (), **settings: Any) -> Fingerprinter:
    crawler = Crawler(Spider, settings)
    crawler.request_fingerprinter = ByPath()
    return Fingerprinter(crawler, headers)


def test_plain_request_has_the_fingerprint_of_its_url() -> None:
    assert made()(Request("http://h/?b&a#x")) == fingerprint("http://h/?a&b")


def test_method_and_body_count() -> None:
    request = Request("http://h/", method="POST", body="x")
    assert made()(request) == fingerprint("http://h/", "POST", b"x")
    assert made()(request) != made()(request.replace(method="PUT"))
    assert made()(request) != made()(request.replace(body="y"))


def test_only_chosen_headers_count() -> None:
    plain, german = (Request("http://h/", headers=h) for h in ({}, {"Accept-Language": "de"}))
    assert made()(german) == made()(plain)
    assert made(["accept-LANGUAGE"])(german) != made(["accept-LANGUAGE"])(plain)
    assert made(["X"])(german) == made(["X"])(plain) == made()(plain)


def test_order_of_the_chosen_headers_does_not_matter() -> None:
    request = Request("http://h/", headers={"A": ["1", "2"], "B": "3"})
    assert made(["a", "b"])(request) == made(["b", "a"])(request)
    assert made(["a"])(request) != made(["a"])(request.replace(headers={"A": ["2", "1"]}))


def test_verbatim_url_counts_as_it_is() -> None:
    one, other = (
        Request(url, meta={"verbatim_url": True}) for url in ("http://h/?a&b", "http://h/?b&a")
    )
    assert made()(one) != made()(other)
    assert made()(one) == made()(one.copy())


VERBATIM = {"verbatim_url": True}


@pytest.mark.parametrize("url", ["http://h/", "http://h/#x", "http://h/?b&a", "http://h/?a=&b="])
@pytest.mark.parametrize("other", ["http://h/", "http://h/?b&a", "http://h/?a=&b="])
def test_verbatim_urls_are_compared_as_in_scrapy(url: str, other: str) -> None:
    one, two = Request(url, meta=VERBATIM), Request(other)
    are_same = request_fingerprint(one) == request_fingerprint(two)
    assert (made()(one) == made()(two)) is are_same


def test_fingerprinter_of_the_project_decides() -> None:
    mine = made(REQUEST_FINGERPRINTER_CLASS=ByPath)
    assert mine(Request("http://h/a?1")) == mine(Request("http://h/a?2"))
    assert mine(Request("http://h/a")) != mine(Request("http://h/b"))
    assert mine(Request("http://h/a")) != made()(Request("http://h/a"))
    assert 0 <= mine(Request("http://h/a")) < 2**63


@pytest.mark.parametrize("number", [0, 1, 2**63 - 1, fingerprint("http://h/")])
def test_start_request_has_an_identity_of_its_own(number: int) -> None:
    assert start_fingerprint(number) != number
    assert 0 <= start_fingerprint(number) < 2**63
    assert start_fingerprint(start_fingerprint(number)) == number


def test_start_requests_for_one_page_are_told_apart_by_their_place() -> None:
    numbers = [start_fingerprint(number, place) for number in (1, 11) for place in (0, 1, 2)]
    assert len(set(numbers)) == len(numbers)
    assert not {1, 11} & set(numbers)
    assert all(0 <= number < 2**63 for number in numbers)


def test_unfiltered_request_is_known_by_where_it_was_found() -> None:
    numbers = [
        unfiltered_fingerprint(number, Position(page, place))
        for number in (1, 11)
        for page in (1, 11)
        for place in (0, 1)
    ]
    assert len(set(numbers)) == len(numbers)
    assert not {1, 11} & set(numbers)
    assert all(0 <= number < 2**63 for number in numbers)
    assert unfiltered_fingerprint(1, Position(1, 0)) == numbers[0]
