"""Weft's HTTP handler beside Scrapy's own: the same requests leave, the same responses arrive."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asking import OURS, SCRAPYS, Asker, with_handler
from crawling import Crawl, crawl

from certificates import server_context
from rawserver import RawServer, Script

PAGE = b"<html>\n" + b"page " * 20
OK = b"HTTP/1.1 200 OK\r\n"


def whole(head: bytes, body: bytes = PAGE) -> bytes:
    return OK + head + b"Content-Length: %d\r\n\r\n" % len(body) + body


def chunk(data: bytes, extension: bytes = b"") -> bytes:
    return b"%x%b\r\n%b\r\n" % (len(data), extension, data)


def bytewise(data: bytes) -> list[bytes]:
    return [data[n : n + 1] for n in range(len(data))]


CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
HTML = b"Content-Type: text/html; charset=utf-8\r\n"
WHOLE_CHUNKED = CHUNKED + chunk(PAGE) + chunk(b"more") + chunk(b"")
TRAILERS = CHUNKED + chunk(PAGE, b";name=value") + b"0\r\nX-Trailer: 1\r\n\r\n"
COOKIES = b"Set-Cookie: a=1\r\nServer: x\r\nset-cookie: b=2\r\nSet-Cookie: a=3\r\n"
CONTROL = b"Connection: Keep-Alive\r\nKeep-Alive: timeout=5\r\nUpgrade: h2\r\n"
ODD_VALUES = b"X-Bytes: \xe4\xff\x01\r\nX-Empty:\r\nX-Spaces: \t a  b \t \r\nx-FOO2bar: 1\r\n"

SCRIPTS = {
    "length": Script([whole(HTML)]),
    "length-bytewise": Script(bytewise(whole(HTML))),
    "no-type": Script([whole(b"")]),
    "octets": Script([whole(b"Content-Type: application/octet-stream\r\n")]),
    "file.json": Script([whole(b"Content-Type: text/plain\r\n", b"{}")]),
    "attachment": Script([whole(b'Content-Disposition: attachment; filename="a.xml"\r\n')]),
    "gzip": Script([whole(HTML + b"Content-Encoding: gzip\r\n", b"\x1f\x8b\x08 not really")]),
    "empty": Script([whole(HTML, b"")]),
    "chunked": Script([WHOLE_CHUNKED]),
    "chunked-bytewise": Script(bytewise(WHOLE_CHUNKED)),
    "trailers": Script([TRAILERS]),
    "chunked-and-length": Script(
        [OK + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n" + chunk(PAGE) + chunk(b"")]
    ),
    "until-close": Script([OK + HTML + b"\r\n" + PAGE], "close"),
    "until-close-empty": Script([OK + HTML + b"\r\n"], "close"),
    "connection-close": Script([whole(b"Connection: close\r\n")], "close"),
    "http10": Script([b"HTTP/1.0 200 OK\r\n" + HTML + b"\r\n" + PAGE], "close"),
    "http10-length": Script([b"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nabcd"], "close"),
    "no-content": Script([b"HTTP/1.1 204 No Content\r\nServer: x\r\n\r\n"]),
    "not-modified": Script(
        [b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\nContent-Length: 9\r\n\r\n']
    ),
    "redirect": Script([b"HTTP/1.1 302 Found\r\nLocation: /length\r\nContent-Length: 0\r\n\r\n"]),
    "error": Script([b"HTTP/1.1 500 Oh\r\nContent-Length: 4\r\n\r\nno !"]),
    "odd-status": Script([b"HTTP/1.1 999 Go Away\r\nContent-Length: 0\r\n\r\n"]),
    "no-phrase": Script([b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok"]),
    "continue": Script([b"HTTP/1.1 100 Continue\r\n\r\n", whole(HTML)]),
    "early-hints": Script([b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + whole(HTML)]),
    "cookies": Script([whole(COOKIES)]),
    "control": Script([whole(CONTROL)]),
    "odd-values": Script([whole(ODD_VALUES)]),
    "line-feeds": Script([b"HTTP/1.1 200 OK\nServer: x\nContent-Length: 2\n\nok"]),
    "folded": Script([whole(b"X-Folded: a\r\n  b\r\n\tc\r\n")]),
    "colonless": Script([whole(b"this is no header\r\nX-After: 1\r\n")]),
    "colonless-bytewise": Script(bytewise(whole(b"no header\r\nX-After: 1\r\n"))),
    "bad-name": Script([whole(b"bad name: 1\r\n")], "close"),
    "no-name": Script([whole(b": 1\r\n")], "close"),
    "two-lengths": Script([OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nokay"], "close"),
    "negative-length": Script([OK + b"Content-Length: -2\r\n\r\nokay"], "close"),
    "word-length": Script([OK + b"Content-Length: two\r\n\r\nokay"], "close"),
    "garbage": Script([b"\x16\x03\x01 this is not HTTP \x00\xff\r\n\r\n"], "close"),
    "nothing": Script([], "close"),
    "reset": Script([], "reset"),
    "half-a-head": Script([OK + b"Server: x\r\n"], "close"),
    "short-length": Script([OK + b"Content-Length: 500\r\n\r\n" + PAGE], "close"),
    "short-reset": Script([OK + b"Content-Length: 500\r\n\r\n" + PAGE], "reset"),
    "short-chunked": Script([CHUNKED + chunk(PAGE)], "close"),
    "bad-chunk": Script([CHUNKED + chunk(PAGE) + b"zz\r\n"], "close"),
    "excess": Script([whole(HTML) + b"and more"], "close"),
    "long-header": Script([whole(b"X-Long: " + b"x" * 12_000 + b"\r\n")]),
    "endless-headers": Script([OK, *[b"X-Header: " + b"x" * 1000 + b"\r\n"] * 100_000], "close"),
    "endless-body": Script([OK + b"\r\n", *[PAGE * 100] * 10_000], "close"),
    "hang": Script([], "hang"),
    "half-and-hang": Script([OK + b"Content-Length: 500\r\n\r\n" + PAGE], "hang"),
    # Where ours is meant to differ.
    "very-long-header": Script([whole(b"X-Long: " + b"x" * 20_000 + b"\r\n")]),
    "identity": Script([OK + b"Transfer-Encoding: identity\r\n\r\n" + PAGE], "close"),
    "spaced-chunk": Script([CHUNKED + b"4  \r\nabcd\r\n" + chunk(b"")]),
    "switching": Script([b"HTTP/1.1 101 Yes\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"], "hang"),
}

DIFFERENCES = {
    "very-long-header": "Twisted gives up at lines of 16 KB, which long cookies and policies reach",
    "identity": "Twisted fails with KeyError; browsers read until the server closes",
    "spaced-chunk": "Twisted calls it a loss of data; servers that pad sizes of chunks do exist",
    "switching": "Twisted waits for another answer until the time is over",
    "at headers length": "Twisted has forgotten the address of the server",
    "at headers endless-body": "likewise",
}

BRIEFLY = {"meta": {"download_timeout": 0.5}}
ASKS: dict[str, dict[str, Any]] = {name: {} for name in SCRIPTS}
ASKS |= {
    "hang": BRIEFLY,
    "half-and-hang": BRIEFLY,
    "switching": BRIEFLY,
    "endless-body": {"meta": {"download_maxsize": 50_000, "download_timeout": 20}},
    "head length": {"method": "HEAD"},
    "head no-content": {"method": "HEAD"},
    "head until-close-empty": {"method": "HEAD"},
    "allowed short-length": {"meta": {"download_fail_on_dataloss": False}},
    "allowed short-chunked": {"meta": {"download_fail_on_dataloss": False}},
    "allowed bad-chunk": {"meta": {"download_fail_on_dataloss": False}},
    "large length": {"meta": {"download_maxsize": 50}},
    "large chunked": {"meta": {"download_maxsize": 50}},
    "warned length": {"meta": {"download_warnsize": 50}},
    "post length": {"method": "POST", "body": "a=1"},
    "put empty": {"method": "PUT"},
    "fragment length": {"fragment": "#part"},
}
STOPS: dict[str, dict[str, Any]] = {
    "heard length": {"meta": {"stop": "never"}},
    "heard chunked": {"meta": {"stop": "never"}},
    "heard head length": {"method": "HEAD", "meta": {"stop": "never"}},
    "at headers length": {"meta": {"stop": "headers"}},
    "at bytes length": {"meta": {"stop": "bytes"}},
    "at bytes failing length": {"meta": {"stop": "bytes", "stop_fails": True}},
    "at headers endless-body": {"meta": {"stop": "headers"}},
}


def asks_at(url: str, asks: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The last word of a name is the script."""
    made = {}
    for name, ask in asks.items():
        arguments = dict(ask)
        path = name.rpartition(" ")[2] + arguments.pop("fragment", "")
        made[name] = {"url": f"{url}{path}"} | arguments
    return made


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, dict[str, Any]]]:
    """What became of each request with either handler."""
    with RawServer(SCRIPTS) as server:
        found = {}
        for handler in (SCRAPYS, OURS):
            items: list[dict[str, Any]] = []
            for asks in (ASKS, STOPS):
                directory = tmp_path_factory.mktemp("crawl")
                done = crawl(
                    directory, Asker, with_handler(handler), asks=asks_at(server.url, asks)
                )
                assert done.reason == "finished", done.log
                items += done.items
            found[handler] = {item["name"]: item for item in items}
        yield found


@pytest.mark.parametrize("name", [name for name in ASKS | STOPS if name not in DIFFERENCES])
def test_an_answer_means_the_same_to_both_handlers(
    results: dict[str, dict[str, Any]], name: str
) -> None:
    assert results[OURS][name] == results[SCRAPYS][name]


@pytest.mark.parametrize("name", DIFFERENCES)
def test_where_the_handlers_differ_it_is_meant(
    results: dict[str, dict[str, Any]], name: str
) -> None:
    assert results[OURS][name] != results[SCRAPYS][name]


# What is sent

WIRE: dict[str, dict[str, Any]] = {
    "plain": {"path": "page"},
    "root": {"path": ""},
    "query": {"path": "page?a=1&b=%20x"},
    "query of the root": {"path": "?a=1"},
    "empty query": {"path": "page?"},
    "parameters": {"path": "page;a=1?b=2"},
    "slashes": {"path": "page//x/../y/./z"},
    "fragment": {"path": "page?a=1#part"},
    "percent": {"path": "page/%7Euser/%e4/a b/ü?ü=ä"},
    "quotes": {"path": "page/a'b\"c|d^e`f{g}"},
    "line breaks": {"path": "page/a\r\nX-Evil: 1\r\n\r\n"},
    "verbatim": {"path": "page/%7euser/a|b?q={x}", "meta": {"verbatim_url": True}},
    "head": {"path": "page", "method": "HEAD"},
    "own method": {"path": "page", "method": "PURGE"},
    "post": {"path": "page", "method": "POST", "body": "a=1&b=ü"},
    "post nothing": {"path": "page", "method": "POST"},
    "put nothing": {"path": "page", "method": "PUT"},
    "delete nothing": {"path": "page", "method": "DELETE"},
    "get with body": {"path": "page", "body": "x"},
    "headers": {
        "path": "page",
        "headers": {"X-b": "2", "X-a": "1", "etag": "e", "DNT": "1", "x-foo2bar": "ü", "Te": ""},
    },
    "repeated headers": {"path": "page", "headers": {"Accept": ["a", "b"], "X-None": None}},
    "injected header": {"path": "page", "headers": {"X-A": "1\r\nX-Evil: 2\n\nGET / HTTP/1.1\r"}},
    "own host": {"path": "page", "headers": {"Host": "example.com"}},
    "own user agent": {"path": "page", "headers": {"User-Agent": "me"}},
    "own length": {
        "path": "page",
        "method": "POST",
        "body": "abc",
        "headers": {"Content-Length": "3"},
    },
    "cookies": {"path": "page", "cookies": {"a": "1", "b": "2"}},
}


def test_the_same_bytes_leave_as_with_scrapys_handler(tmp_path: Path) -> None:
    page = Script([whole(HTML)])
    sent = []
    with RawServer({"page": page, "": page}) as server:
        for handler in (SCRAPYS, OURS):
            asks = {
                name: {"url": f"{server.url}{ask['path']}"}
                | {key: value for key, value in ask.items() if key != "path"}
                for name, ask in WIRE.items()
            }
            before = len(server.requests)
            crawl(tmp_path, Asker, with_handler(handler, COOKIES_DEBUG=False), asks=asks)
            sent.append(dict(zip(WIRE, server.requests[before:], strict=True)))
    for name in WIRE:
        assert sent[1][name] == sent[0][name]


@pytest.mark.parametrize("handler", [SCRAPYS, OURS])
@pytest.mark.parametrize(
    "ask",
    [
        {"headers": {"X Bad": "1"}},
        {"headers": {"X-Bad\r\nX-Evil": "1"}},
        {"headers": {"Host": ["a", "b"]}},
        {"method": "GET /evil HTTP/1.1\r\nX-Evil: "},
    ],
)
def test_what_is_not_http_is_not_sent(tmp_path: Path, handler: str, ask: dict[str, Any]) -> None:
    with RawServer({"page": Script([whole(HTML)])}) as server:
        asks = {"bad": {"url": f"{server.url}page"} | ask}
        done = crawl(tmp_path, Asker, with_handler(handler), asks=asks)
        assert server.requests == []
    assert done.items == [] or "error" in done.items[0]


# TLS, proxies, bound addresses


def ask_one(
    directory: Path, server: RawServer, handler: str = OURS, path: str = "page", **settings: Any
) -> Crawl:
    asks = {"one": {"url": f"{server.url}{path}"}}
    return crawl(directory, Asker, with_handler(handler, **settings), asks=asks)


def test_a_page_comes_over_tls_with_the_certificate(tmp_path: Path) -> None:
    with RawServer({"page": Script([whole(HTML)])}, tls=server_context(tmp_path)) as server:
        scrapys = ask_one(tmp_path, server, SCRAPYS)
        ours = ask_one(tmp_path, server, OURS)
    assert ours.items == scrapys.items
    assert "weft test" in ours.items[0]["certificate"]


def test_a_certificate_that_nobody_signed_is_refused_where_that_is_wanted(tmp_path: Path) -> None:
    with RawServer({"page": Script([whole(HTML)])}, tls=server_context(tmp_path)) as server:
        done = ask_one(tmp_path, server, DOWNLOAD_VERIFY_CERTIFICATES=True)
        assert server.requests == []
    assert [item["error"] for item in done.items] == ["DownloadFailedError"]


def test_the_details_of_tls_are_told_where_that_is_wanted(tmp_path: Path) -> None:
    with RawServer({"page": Script([whole(HTML)])}, tls=server_context(tmp_path)) as server:
        done = ask_one(tmp_path, server, DOWNLOADER_CLIENT_TLS_VERBOSE_LOGGING=True)
    assert "SSL connection to 127.0.0.1 using protocol TLSv1.3" in done.log


@pytest.mark.parametrize("has_reactor", [True, False])
def test_a_request_through_a_proxy_goes_there(tmp_path: Path, has_reactor: bool) -> None:
    with RawServer({"page": Script([whole(HTML)])}) as proxy:
        asks = {"one": {"url": "http://nowhere.test/page", "meta": {"proxy": proxy.url}}}
        settings = with_handler(OURS, TWISTED_REACTOR_ENABLED=has_reactor)
        done = crawl(tmp_path, Asker, settings, asks=asks)
        assert proxy.requests[0].startswith(b"GET http://nowhere.test/page HTTP/1.1\r\n")
    assert done.items[0]["status"] == 200


def test_a_resolver_of_the_project_is_used(tmp_path: Path) -> None:
    with RawServer({"page": Script([whole(HTML)])}, host="::1") as server:
        asks = {"one": {"url": f"http://ip6-host.test:{server.port}/page"}}
        settings = with_handler(OURS, TWISTED_DNS_RESOLVER="asking.LoopbackResolver")
        done = crawl(tmp_path, Asker, settings, asks=asks)
    assert done.items[0]["ip_address"] == "::1"


def test_an_ipv6_address_can_be_asked(tmp_path: Path) -> None:
    with RawServer({"page": Script([whole(HTML)])}, host="::1") as server:
        done = ask_one(tmp_path, server)
        host = b"\r\nHost: [::1]:%d\r\n" % server.port
        assert host in server.requests[0]
    assert done.items[0]["ip_address"] == "::1"


def test_without_a_reactor_pages_come_all_the_same(tmp_path: Path) -> None:
    with RawServer({"page": Script([whole(HTML)])}) as server:
        done = ask_one(tmp_path, server, TWISTED_REACTOR_ENABLED=False)
    assert done.items[0]["status"] == 200


def test_what_needs_scrapys_handler_fails_where_there_is_none(tmp_path: Path) -> None:
    asks = {"one": {"url": "http://nowhere.test/", "meta": {"proxy": "http://127.0.0.1:1"}}}
    settings = with_handler(OURS, DOWNLOAD_HANDLERS_BASE={"http": "nowhere.Handler"})
    done = crawl(tmp_path, Asker, settings, asks=asks)
    assert done.items == [{"name": "one", "error": "NotSupported"}]
