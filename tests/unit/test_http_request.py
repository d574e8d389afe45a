"""Where a request goes, and as which bytes."""

from typing import Any

import pytest
from scrapy import Request

from weft.engine.http.origin import Origin, origin_of
from weft.engine.http.wire import request_bytes

HERE = Origin(False, "example.com", 80, b"example.com")


@pytest.mark.parametrize(
    ("scheme", "netloc", "expected"),
    [
        ("http", "example.com", HERE),
        ("http", "example.com:80", HERE),
        ("http", "example.com:081", Origin(False, "example.com", 81, b"example.com:81")),
        ("https", "example.com", Origin(True, "example.com", 443, b"example.com")),
        ("https", "example.com:80", Origin(True, "example.com", 80, b"example.com:80")),
        ("http", "my_host-1.test", Origin(False, "my_host-1.test", 80, b"my_host-1.test")),
        ("http", "[::1]", Origin(False, "::1", 80, b"[::1]")),
        ("http", "[::1]:81", Origin(False, "::1", 81, b"[::1]:81")),
    ],
)
def test_an_origin_is_a_host_and_a_port(scheme: str, netloc: str, expected: Origin) -> None:
    assert origin_of(scheme, netloc) == expected


@pytest.mark.parametrize(
    "netloc",
    [
        "",
        "user@example.com",
        "user:word@example.com",
        "example.com:",
        "example.com:0",
        "example.com:65536",
        "example.com:x",
        "ex ample.com",
        "exämple.com",
        "a\r\nb",
        "::1",
    ],
)
def test_what_could_be_read_in_two_ways_is_no_origin(netloc: str) -> None:
    assert origin_of("http", netloc) is None


def test_other_schemes_have_no_origin() -> None:
    assert origin_of("ftp", "example.com") is None


def sent(path: str = "", **arguments: Any) -> bytes | None:
    return request_bytes(Request(f"http://example.com/{path}", **arguments), HERE)


def test_a_request_is_its_line_its_headers_and_its_host() -> None:
    headers = {"X-B": "2", "x-a": ["1", "ü"]}
    assert sent("a?b=1#c", headers=headers) == (
        b"GET /a?b=1 HTTP/1.1\r\nX-B: 2\r\nX-A: 1\r\nX-A: \xc3\xbc\r\nHost: example.com\r\n\r\n"
    )


def test_a_body_is_announced_before_everything_else() -> None:
    assert sent(method="POST", body="abc", headers={"X-A": "1"}) == (
        b"POST / HTTP/1.1\r\nContent-Length: 3\r\nX-A: 1\r\nHost: example.com\r\n\r\nabc"
    )


@pytest.mark.parametrize(("method", "is_announced"), [("POST", True), ("GET", False)])
def test_a_body_that_is_not_there_is_announced_where_one_is_expected(
    method: str, is_announced: bool
) -> None:
    assert (b"Content-Length: 0" in (sent(method=method) or b"")) is is_announced


@pytest.mark.parametrize("value", ["1\r\nEvil: 2", "1\nEvil: 2", "1\rEvil: 2", "1\r\n\r\nEvil: 2"])
def test_a_value_cannot_become_a_header_of_its_own(value: str) -> None:
    wire = sent(headers={"X-A": value}) or b""
    assert [line for line in wire.splitlines() if line.startswith(b"Evil")] == []
    assert wire.count(b"\r\n") == wire.count(b"\n") == wire.count(b"\r") == 4


@pytest.mark.parametrize(
    "arguments",
    [
        {"headers": {"X A": "1"}},
        {"headers": {"X-A\r\nEvil": "1"}},
        {"headers": {"": "1"}},
        {"headers": {"Host": ["a", "b"]}},
        {"headers": {"Content-Length": "3"}},
        {"headers": {"Transfer-Encoding": "chunked"}},
        {"method": "GET / HTTP/1.1\r\nEvil: "},
        {"method": ""},
    ],
)
def test_what_is_not_plain_http_is_left_to_scrapy(arguments: dict[str, Any]) -> None:
    assert sent(**arguments) is None


@pytest.mark.parametrize("url", ["http://example.com/ü", "http://example.com/a b\x00"])
def test_a_verbatim_url_that_is_no_url_is_left_to_scrapy(url: str) -> None:
    request = Request(url, meta={"verbatim_url": True})
    assert request_bytes(request, HERE) is None
