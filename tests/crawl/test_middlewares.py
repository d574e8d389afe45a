"""Scrapy's middlewares do with Weft what they do without: the same items, the same requests as the
servers see them, and the same statistics."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import brotli
import pytest
from backports import zstd
from browsing import Browser
from crawling import Crawl, crawl

from certificates import server_context
from proxyserver import ProxyServer
from rawserver import RawServer, Script
from weft.records import Stats

HTML = b"Content-Type: text/html; charset=utf-8\r\n"
WITHOUT_WEFT: dict[str, Any] = {"ADDONS": {}}
OTHER_HOST = "127.0.0.2"

#: What only Weft tells, what depends on the time that a crawl takes, and how often a link to a
#: known page was passed on.
IN_DOUBT = frozenset(
    {f"frontier/{name}" for name in Stats.__struct_fields__}
    | {"frontier/late", "sinks/items", "dupefilter/filtered"}
    | {"start_time", "finish_time", "elapsed_time_seconds", "memusage/startup", "memusage/max"}
    | {"responses_per_minute", "items_per_minute"}
    | {"log_count/DEBUG", "log_count/INFO", "log_count/WARNING"}
)


def answer(body: bytes, head: bytes = b"", status: bytes = b"200 OK") -> Script:
    lines = b"HTTP/1.1 %b\r\n%b%b" % (status, HTML, head)
    length = b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(body)
    return Script([lines + length + body], then="close")


def page(text: str, *links: str, head: str = "") -> bytes:
    anchors = "".join(f'<a href="{link}">{link}</a>' for link in links)
    return f"<html><head>{head}</head><body><p>{text}</p>{anchors}</body></html>".encode()


Seen = Counter[tuple[bytes, frozenset[bytes]]]


def seen(requests: Sequence[bytes]) -> Seen:
    """Whatever the order of the headers is, which says nothing."""
    found: Seen = Counter()
    for request in requests:
        line, *headers = request.split(b"\r\n\r\n")[0].split(b"\r\n")
        named = (header.partition(b":") for header in headers)
        found[line, frozenset(name.lower() + colon + value for name, colon, value in named)] += 1
    return found


def values(done: Crawl) -> dict[str, Any]:
    told = {name.removesuffix("/memory"): value for name, value in done.stats.items()}
    return {name: value for name, value in told.items() if name not in IN_DOUBT}


def items(done: Crawl) -> list[dict[str, Any]]:
    return sorted(done.items, key=lambda item: str(item["url"]))


def compare(
    directory: Path,
    starts: Sequence[str],
    requests: Sequence[list[bytes]],
    settings: dict[str, Any] | None = None,
    **arguments: Any,
) -> Crawl:
    """Crawl without Weft and with it; `requests` are what servers note as they come. Returns the
    crawl with Weft, which was like the other."""
    found = []
    for more in (WITHOUT_WEFT, {}):
        for log in requests:
            log.clear()
        place = directory / ("weft" if not more else "plain")
        place.mkdir()
        done = crawl(place, Browser, (settings or {}) | more, start_urls=[*starts], **arguments)
        assert done.reason == "finished", done.log
        found.append((done, [seen(log) for log in requests]))
    (plain, plainly_seen), (with_weft, also_seen) = found
    assert items(with_weft) == items(plain)
    assert also_seen == plainly_seen
    assert values(with_weft) == values(plain)
    return with_weft


@pytest.fixture
def elsewhere() -> Iterator[RawServer]:
    """Another site."""
    with RawServer({"": answer(page("elsewhere"))}, host=OTHER_HOST) as server:
        yield server


def paths(requests: Sequence[bytes]) -> list[str]:
    return sorted(request.split(b" ")[1].decode() for request in requests)


def headers(requests: Sequence[bytes], name: bytes) -> list[str]:
    """The values of this header, of all requests."""
    return sorted(
        line.partition(b": ")[2].decode()
        for request in requests
        for line in request.split(b"\r\n")
        if line.lower().startswith(name.lower() + b":")
    )


@pytest.mark.parametrize("has_domain", [True, False])
def test_http_auth(tmp_path: Path, elsewhere: RawServer, has_domain: bool) -> None:
    scripts = {"": answer(page("home", "/inner", elsewhere.url)), "inner": answer(page("inner"))}
    with RawServer(scripts) as server:
        settings = {
            "HTTPAUTH_USER": "weft",
            "HTTPAUTH_PASS": "secret",
            "HTTPAUTH_DOMAIN": f"127.0.0.1:{server.port}" if has_domain else None,
        }
        logs = [server.requests, elsewhere.requests]
        done = compare(tmp_path, [server.url], logs, settings)
        assert headers(server.requests, b"Authorization") == ["Basic d2VmdDpzZWNyZXQ="] * 2
    told_elsewhere = headers(elsewhere.requests, b"Authorization")
    assert told_elsewhere == ([] if has_domain else ["Basic d2VmdDpzZWNyZXQ="])
    assert len(done.items) == 3


def test_offsite(tmp_path: Path, elsewhere: RawServer) -> None:
    """Links to other sites are not followed, nor are redirects there."""
    scripts = {
        "": answer(page("home", "/inner", "/away", elsewhere.url, f"{elsewhere.url}again")),
        "inner": answer(page("inner", f"{elsewhere.url}more")),
        "away": answer(b"", b"Location: %b\r\n" % elsewhere.url.encode(), b"302 Found"),
    }
    with RawServer(scripts) as server:
        done = compare(
            *(tmp_path, [server.url], [server.requests, elsewhere.requests]),
            allowed_domains=["127.0.0.1"],
        )
        assert paths(server.requests) == ["/", "/away", "/inner"]
    assert elsewhere.requests == []
    assert done.stats["offsite/filtered"] == 4
    assert done.stats["offsite/domains"] == 1


def test_url_length(tmp_path: Path) -> None:
    long = "/inner?" + "x" * 100
    scripts = {"": answer(page("home", "/inner", long)), "inner": answer(page("inner", long))}
    with RawServer(scripts) as server:
        settings = {"URLLENGTH_LIMIT": 80}
        done = compare(tmp_path, [server.url], [server.requests], settings)
        assert paths(server.requests) == ["/", "/inner"]
    assert done.stats["urllength/request_ignored_count"] == 2


@pytest.mark.parametrize(
    ("policy", "inner"), [("", "FULL"), ("origin", "ORIGIN"), ("no-referrer", None)]
)
def test_referer(tmp_path: Path, elsewhere: RawServer, policy: str, inner: str | None) -> None:
    scripts = {
        "": answer(page("home", "/inner?1")),
        "inner": answer(page("inner", "/last", elsewhere.url)),
        "last": answer(page("last")),
    }
    settings = {"REFERRER_POLICY": policy} if policy else {}
    with RawServer(scripts) as server:
        logs = [server.requests, elsewhere.requests]
        done = compare(tmp_path, [server.url], logs, settings)
        known = {"FULL": f"{server.url}inner?1", "ORIGIN": server.url, None: None}
        [last] = [item for item in done.items if item["text"] == "last"]
        assert last["sent"]["Referer"] == str(known[inner] and str(known[inner]).encode())
    assert len(done.items) == 4


def test_meta_refresh(tmp_path: Path) -> None:
    def refresh(seconds: int, where: str) -> str:
        return f'<meta http-equiv="refresh" content="{seconds};url={where}">'

    scripts = {
        "": answer(page("home", "/moved", "/slow", "/circle")),
        "moved": answer(page("moved", head=refresh(0, "/there"))),
        "there": answer(page("there")),
        # Too long to wait for: the page is as it is.
        "slow": answer(page("slow", head=refresh(600, "/there"))),
        "circle": answer(page("circle", head=refresh(0, "/round"))),
        "round": answer(page("round", head=refresh(0, "/circle"))),
    }
    with RawServer(scripts) as server:
        done = compare(tmp_path, [server.url], [server.requests], {"REDIRECT_MAX_TIMES": 3})
    assert sorted(item["text"] for item in done.items) == ["home", "slow", "there"]
    [there] = [item for item in done.items if item["text"] == "there"]
    assert there["reasons"] == ["meta refresh"]


@pytest.mark.parametrize("pack", [brotli.compress, zstd.compress], ids=["br", "zstd"])
def test_compressed_pages(tmp_path: Path, pack: Any) -> None:
    name = "br" if pack is brotli.compress else "zstd"
    coded = f"Content-Encoding: {name}\r\n".encode()
    text = "ä word " * 1000
    scripts = {
        "": answer(pack(page("home", "/inner", "/plain")), coded),
        "inner": answer(pack(page(text)), coded),
        "plain": answer(page("plain")),
    }
    with RawServer(scripts) as server:
        done = compare(tmp_path, [server.url], [server.requests])
        assert all(name in told for told in headers(server.requests, b"Accept-Encoding"))
    assert sorted(item["text"] for item in done.items) == ["home", "plain", text]
    assert done.stats["httpcompression/response_count"] == 2


# Proxies


@pytest.fixture
def proxy() -> Iterator[ProxyServer]:
    with ProxyServer() as server:
        yield server


@pytest.mark.parametrize("user", ["", "weft:secret"])
def test_a_proxy_that_the_environment_names(
    tmp_path: Path,
    elsewhere: RawServer,
    proxy: ProxyServer,
    monkeypatch: pytest.MonkeyPatch,
    user: str,
) -> None:
    monkeypatch.setenv("http_proxy", proxy.url(user))
    monkeypatch.setenv("no_proxy", OTHER_HOST)
    scripts = {"": answer(page("home", "/inner", elsewhere.url)), "inner": answer(page("inner"))}
    with RawServer(scripts) as server:
        logs = [server.requests, elsewhere.requests, proxy.heads]
        done = compare(tmp_path, [server.url], logs)
        assert paths(proxy.heads) == [server.url, f"{server.url}inner"]
        assert len(server.requests) == 2
    told = headers(proxy.heads, b"Proxy-Authorization")
    assert told == (["Basic d2VmdDpzZWNyZXQ="] * 2 if user else [])
    assert len(elsewhere.requests) == 1
    assert len(done.items) == 3


@pytest.mark.parametrize("user", ["", "weft:secret"])
def test_a_proxy_makes_tunnels_for_https(
    tmp_path: Path, proxy: ProxyServer, monkeypatch: pytest.MonkeyPatch, user: str
) -> None:
    monkeypatch.setenv("https_proxy", proxy.url(user))
    scripts = {"": answer(page("home", "/inner")), "inner": answer(page("inner"))}
    with RawServer(scripts, tls=server_context(tmp_path)) as server:
        done = compare(tmp_path, [server.url], [server.requests, proxy.heads])
        assert paths(server.requests) == ["/", "/inner"]
        assert {*paths(proxy.heads)} == {f"127.0.0.1:{server.port}"}
        # The site does not see what is for the proxy.
        assert headers(server.requests, b"Proxy-Authorization") == []
    told = headers(proxy.heads, b"Proxy-Authorization")
    assert {*told} == ({"Basic d2VmdDpzZWNyZXQ="} if user else set())
    assert len(done.items) == 2


def test_a_proxy_that_does_not_answer(
    tmp_path: Path, elsewhere: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Retries go there, too, and then the page has failed; the rest is crawled."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with RawServer({"": answer(page("home", elsewhere.url))}) as server:
        logs = [server.requests, elsewhere.requests]
        done = compare(tmp_path, [server.url], logs, {"RETRY_TIMES": 1})
    assert elsewhere.requests == []
    assert done.stats["retry/count"] == 1
    assert [item["text"] for item in done.items] == ["home"]
