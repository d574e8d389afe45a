"""`-o warc://DIR`: what the network answered is in the archive, byte for byte."""

import gzip
import http.client
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from crawling import crawl, read_items
from walking import Fetcher

from rawserver import RawServer, Script
from running import Weft
from warcs import Record, read_pages, read_warc
from weft.testing import Site, SiteServer

SITE = Site(
    pages=30, redirects_every=7, missing_every=5, flaky_every=9, gzip=True, robots="User-agent: *\n"
)


@pytest.fixture(scope="module")
def server() -> Iterator[SiteServer]:
    with SiteServer(SITE) as started:
        yield started


def path_of(url: str) -> str:
    return urlsplit(url).path


def answered(url: str) -> tuple[int, bytes]:
    """What the server says to us."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc)
    connection.request("GET", parts.path, headers={"Accept-Encoding": "gzip"})
    response = connection.getresponse()
    try:
        return response.status, response.read()
    finally:
        connection.close()


def test_every_answer_is_archived_with_its_exact_bytes(
    weft: Weft, tmp_path: Path, server: SiteServer
) -> None:
    server.forget()
    done = weft("crawl", server.url, "-o", "warc://pages", "-o", "out.jsonl", "--job", "all")
    assert done.returncode == 0, done.stderr
    hits = [hit.path for hit in server.hits()]
    pages = read_pages(tmp_path / "pages")
    assert Counter(path_of(page.url) for page in pages) == Counter(hits)
    assert "/robots.txt" in hits
    assert {page.status for page in pages} == {200, 302, 404, 500}
    for page in pages:
        if page.status != 500:  # it is right now
            assert (page.status, page.body) == answered(page.url)
    assert {page.url for page in pages if page.status == 200} >= server.page_urls()
    page = next(page for page in pages if path_of(page.url) == "/p/1.html")
    assert dict(page.headers)["Content-Encoding"] == "gzip"
    assert b"<h1>" in gzip.decompress(page.body)
    assert page.fields["WARC-IP-Address"] == "127.0.0.1"


def test_requests_stand_beside_their_answers(
    weft: Weft, tmp_path: Path, server: SiteServer
) -> None:
    weft("crawl", server.url, "-o", f"warc://{tmp_path}/pages", "--max-pages", "1")
    [path] = (tmp_path / "pages").glob("*.warc.gz")
    records = read_warc(path)
    [request] = [each for each in records if each.type == "request" and each.url == server.url]
    assert request.first_line == "GET / HTTP/1.1"
    headers = dict(request.headers)
    assert headers["Host"] == f"127.0.0.1:{server.port}"
    assert "gzip" in headers["Accept-Encoding"]


def test_items_go_to_the_job_where_only_an_archive_is_named(
    weft: Weft, tmp_path: Path, server: SiteServer
) -> None:
    command = ("crawl", server.url, "-o", "warc://pages", "--job", "both", "--max-pages", "3")
    assert weft(*command).returncode == 0
    assert len(read_items(tmp_path / ".weft/both/items.db")) == 3
    first = {page.fields["WARC-Record-ID"] for page in read_pages(tmp_path / "pages")}
    assert weft(*command, "--fresh").returncode == 0
    again = {page.fields["WARC-Record-ID"] for page in read_pages(tmp_path / "pages")}
    assert len(again) >= 3
    assert not first & again


def test_what_a_cache_answers_is_not_archived(tmp_path: Path, server: SiteServer) -> None:
    settings = {"HTTPCACHE_ENABLED": True, "WEFT_SINKS": ["warc://pages"]}
    urls = [f"{server.url}p/{number}.html" for number in (1, 2)]
    crawl(tmp_path, Fetcher, settings, urls=urls[:1])
    done = crawl(tmp_path, Fetcher, settings, urls=urls)
    assert done.stats["httpcache/hit"] == 1
    assert done.stats["archives/pages"] == 1
    assert sorted(page.url for page in read_pages(tmp_path / "pages")) == urls


BINARY = bytes(range(256)) * 100
OK = b"HTTP/1.1 200 OK\r\n"
SCRIPTS = {
    "chunked": Script([OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"]),
    "no-reason": Script([b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok"]),
    "old": Script([b"HTTP/1.0 200 OK\r\n\r\nold"], "close"),
    "binary": Script([OK + b"Content-Length: %d\r\nX-Odd: \xe4\xff\r\n\r\n" % len(BINARY), BINARY]),
    "half": Script([OK + b"Content-Length: 9\r\n\r\nhalf"], "close"),
    "caf%C3%A9": Script([OK + b"Content-Length: 5\r\n\r\ncaf\xc3\xa9"]),
    "nothing": Script([b"HTTP/1.1 204 No Content\r\n\r\n"]),
}


@pytest.fixture(scope="module")
def odd_pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Record]:
    """What the archive has of the scripts above, by their names."""
    directory = tmp_path_factory.mktemp("odd")
    settings = {
        "WEFT_SINKS": ["warc://pages"],
        "DOWNLOAD_FAIL_ON_DATALOSS": False,
        "ROBOTSTXT_OBEY": False,
    }
    with RawServer(SCRIPTS) as raw:
        urls = [f"{raw.url}{name.replace('%C3%A9', 'é')}" for name in SCRIPTS]
        crawl(directory, Fetcher, settings, urls=urls)
    return {path_of(page.url)[1:]: page for page in read_pages(directory / "pages")}


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("chunked", b"abcde"),
        ("no-reason", b"ok"),
        ("old", b"old"),
        ("binary", BINARY),
        ("half", b"half"),
        ("caf%C3%A9", b"caf\xc3\xa9"),
        ("nothing", b""),
    ],
)
def test_odd_answers_are_archived_as_they_came(
    odd_pages: dict[str, Record], name: str, body: bytes
) -> None:
    page = odd_pages[name]
    assert page.body == body
    assert page.status == (204 if name == "nothing" else 200)
    headers = dict(page.headers)
    if name == "half":
        assert page.fields["WARC-Truncated"] == "disconnect"
        assert headers["X-Crawler-Content-Length"] == "9"
    else:
        assert headers.get("Content-Length", str(len(body))) == str(len(body))
    assert "Transfer-Encoding" not in headers
    assert page.first_line.startswith("HTTP/1.0" if name == "old" else "HTTP/1.1")
