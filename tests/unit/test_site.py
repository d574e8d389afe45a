"""The test site is itself tested against real sockets: other tests trust what it says."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urldefrag, urlencode, urljoin, urlsplit

import pytest

from weft import demo
from weft.errors import ConfigError, WeftError
from weft.testing import Hit, Site, SiteServer
from weft.testing.site.special import BOMB_BYTES, LONG_URL_CHARS
from weft.testing.waiting import wait_until


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


def fetch(
    url: str, method: str = "GET", body: bytes | None = None, headers: Mapping[str, str] = {}
) -> Reply:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=10)
    try:
        connection.request(method, url.removeprefix(f"http://{parts.netloc}"), body, dict(headers))
        response = connection.getresponse()
        return Reply(response.status, dict(response.getheaders()), response.read())
    finally:
        connection.close()


def get(server: SiteServer, path: str, host: str = "127.0.0.1", **headers: str) -> Reply:
    return fetch(server.url_of(host, path), headers=headers)


def send_raw(server: SiteServer, data: bytes) -> bytes:
    """Everything that the server sends back until it closes the connection."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(data)
        return b"".join(iter(lambda: connection.recv(65536), b""))


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.hrefs: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.hrefs += [value or "" for name, value in attrs if tag == "a" and name == "href"]


def hrefs(html: str) -> list[str]:
    parser = Links()
    parser.feed(html)
    return parser.hrefs


def crawl(url: str) -> dict[str, int]:
    """Follows links, and redirects; the status of each URL."""
    statuses: dict[str, int] = {}
    todo = [url]
    while todo:
        at = todo.pop()
        if at in statuses:
            continue
        reply = fetch(at)
        statuses[at] = reply.status
        found = hrefs(reply.text) if "html" in reply.headers["Content-Type"] else []
        found += [reply.headers["Location"]] if "Location" in reply.headers else []
        todo += [urldefrag(urljoin(at, href)).url for href in found]
    return statuses


def good(statuses: Mapping[str, int]) -> set[str]:
    return {url for url, status in statuses.items() if status == 200}


@pytest.fixture(scope="module")
def plain() -> Iterator[SiteServer]:
    """One server for the tests that need nothing special and do not read its log."""
    with SiteServer(Site(pages=50)) as server:
        yield server


# Pages


def test_same_options_give_the_same_bytes(plain: SiteServer) -> None:
    with SiteServer(Site(pages=50)) as other:
        for path in ("/", "/p/1.html", "/p/49.html", "/login", "/trap/a", "/missing/1"):
            assert get(plain, path) == get(other, path)


def test_every_page_is_reachable_from_the_first(plain: SiteServer) -> None:
    assert good(crawl(plain.url)) == plain.page_urls()
    assert len(plain.page_urls()) == 50


@pytest.mark.parametrize("links", [1, 2, 7])
def test_every_page_is_reachable_whatever_the_number_of_links(links: int) -> None:
    with SiteServer(Site(pages=20, links=links)) as server:
        assert good(crawl(server.url)) == server.page_urls()


def test_a_page_has_title_heading_links_and_about_the_wanted_size(plain: SiteServer) -> None:
    page = get(plain, "/p/7.html").text
    assert "<title>Page 7 of 127.0.0.1 · 第7页</title>" in page
    assert "<h1>Page 7 of" in page
    assert len(hrefs(page)) == 10
    assert 900 < len(page) < 1_100


def test_links_are_written_in_different_ways(plain: SiteServer) -> None:
    found = hrefs(get(plain, "/").text)
    assert {"/p/1.html", "p/2.html", "/p/3.html#top", "../p/4.html"} <= set(found)


@pytest.mark.parametrize("size_bytes", [0, 5_000, 100_000])
def test_large_and_small_pages_are_whole_html(size_bytes: int) -> None:
    with SiteServer(Site(pages=3, size_bytes=size_bytes)) as server:
        page = get(server, "/p/2.html").text
    assert page.count("<p>") == page.count("</p>") >= 1
    assert page.endswith("</html>\n")
    assert len(page) >= size_bytes


@pytest.mark.parametrize(
    "path",
    ["/p/50.html", "/p/0.html", "/p/01.html", "/p/x.html", "/p/.html", f"/p/{'9' * 5000}.html"],
)
def test_there_are_no_other_pages(plain: SiteServer, path: str) -> None:
    assert get(plain, path).status == 404


def test_hosts_serve_their_own_pages_on_one_port() -> None:
    hosts = ("127.0.0.1", "127.0.0.2", "127.1.2.3")
    with SiteServer(Site(pages=5, hosts=hosts, cross_links=True)) as server:
        assert "Page 1 of 127.1.2.3" in get(server, "/p/1.html", "127.1.2.3").text
        assert good(crawl(server.url)) == server.page_urls()
        assert len(server.page_urls()) == 15
        assert len(server.page_urls("127.0.0.2")) == 5
        assert {hit.host for hit in server.hits()} == set(hosts)


def test_latency_is_set_by_host() -> None:
    hosts = ("127.0.0.1", "127.0.0.2")
    with SiteServer(Site(hosts=hosts, latency_s={"127.0.0.2": 0.3})) as server:
        start_s = time.monotonic()
        get(server, "/")
        fast_s = time.monotonic() - start_s
        get(server, "/", "127.0.0.2")
        slow_s = time.monotonic() - start_s - fast_s
    assert fast_s < 0.3 <= slow_s


def test_some_pages_are_linked_through_redirects() -> None:
    with SiteServer(Site(pages=20, redirects_every=5)) as server:
        assert "/r/5" in hrefs(get(server, "/").text)
        assert get(server, "/r/5").headers["Location"] == "/p/5.html"
        statuses = crawl(server.url)
        assert good(statuses) == server.page_urls()
        assert {urlsplit(url).path for url, status in statuses.items() if status == 302} == {
            "/r/5", "/r/10", "/r/15",
        }  # fmt: skip


def test_some_pages_have_dead_links() -> None:
    with SiteServer(Site(pages=20, missing_every=6)) as server:
        dead = {urlsplit(url).path for url, status in crawl(server.url).items() if status == 404}
    assert dead == {"/missing/6", "/missing/12", "/missing/18"}


def test_flaky_and_busy_pages_fail_on_their_first_request_only() -> None:
    with SiteServer(Site(flaky_every=2, busy_every=3)) as server:
        assert [get(server, "/p/2.html").status for _ in range(3)] == [500, 200, 200]
        busy = get(server, "/p/3.html")
        assert (busy.status, busy.headers["Retry-After"]) == (429, "1")
        assert get(server, "/p/3.html").status == 200
        assert [get(server, "/p/6.html").status for _ in range(3)] == [500, 429, 200]
        assert get(server, "/p/1.html").status == 200


def test_robots_txt_is_there_when_it_has_text(plain: SiteServer) -> None:
    assert get(plain, "/robots.txt").status == 404
    with SiteServer(Site(robots="User-agent: *\nDisallow: /p/3.html\n")) as server:
        assert get(server, "/robots.txt").text == "User-agent: *\nDisallow: /p/3.html\n"


@pytest.mark.parametrize(
    ("charset", "title"),
    [("gbk", "Page 1 of 127.0.0.1 · 第1页"), ("iso-8859-1", "Page 1 of 127.0.0.1")],
)
def test_pages_are_encoded_as_they_say(charset: str, title: str) -> None:
    with SiteServer(Site(charset=charset)) as server:
        reply = get(server, "/p/1.html")
    assert reply.headers["Content-Type"] == f"text/html; charset={charset}"
    assert f"<title>{title}</title>" in reply.body.decode(charset)


def test_bodies_are_compressed_for_those_who_accept_it() -> None:
    with SiteServer(Site(gzip=True)) as server:
        plain = get(server, "/")
        packed = get(server, "/", **{"Accept-Encoding": "gzip, deflate"})
        assert packed == get(server, "/", **{"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert zlib.decompress(packed.body, wbits=31) == plain.body


# Special paths


@pytest.mark.parametrize("status", [200, 204, 304, 403, 404, 418, 500, 503, 599])
def test_status_answers_with_that_status(plain: SiteServer, status: int) -> None:
    assert get(plain, f"/status/{status}").status == status


def test_status_of_a_redirect_leads_home(plain: SiteServer) -> None:
    assert get(plain, "/status/301").headers["Location"] == "/"


@pytest.mark.parametrize("path", ["/status/99", "/status/x", "/slow/x", "/broken/x", "/members"])
def test_special_paths_of_no_meaning_are_missing(plain: SiteServer, path: str) -> None:
    assert get(plain, path).status == 404


def test_slow_takes_its_time(plain: SiteServer) -> None:
    start_s = time.monotonic()
    assert get(plain, "/slow/0.2").status == 200
    assert time.monotonic() - start_s >= 0.2


def test_redirects_lead_in_a_loop_or_anywhere(plain: SiteServer) -> None:
    assert get(plain, "/redirect-loop").headers["Location"] == "/redirect-loop"
    query = urlencode({"url": "http://example.org/a?b=c\r\nX: y"})
    location = get(plain, f"/redirect-to?{query}").headers["Location"]
    assert location == "http://example.org/a?b=c%0D%0AX:%20y"
    assert get(plain, "/redirect-to").status == 400


@pytest.mark.parametrize("kind", ["close", "length"])
def test_broken_bodies_end_too_early(plain: SiteServer, kind: str) -> None:
    with pytest.raises(http.client.IncompleteRead):
        get(plain, f"/broken/{kind}")


def test_broken_header_is_no_http(plain: SiteServer) -> None:
    with pytest.raises(http.client.BadStatusLine):
        get(plain, "/broken/header")


def test_broken_charset_is_not_what_it_says(plain: SiteServer) -> None:
    reply = get(plain, "/broken/charset")
    assert reply.headers["Content-Type"] == "text/html; charset=utf-8"
    with pytest.raises(UnicodeDecodeError):
        reply.body.decode()


def test_trap_gets_ever_deeper(plain: SiteServer) -> None:
    found = hrefs(get(plain, "/trap/a/3").text)
    assert found == [f"/trap/a/3/{number}" for number in range(10)]


def test_bomb_is_small_and_inflates(plain: SiteServer) -> None:
    reply = get(plain, "/bomb")
    assert reply.headers["Content-Encoding"] == "gzip"
    assert len(reply.body) < 60_000
    assert len(zlib.decompress(reply.body, wbits=31)) == BOMB_BYTES


def test_long_link_can_be_asked_for(plain: SiteServer) -> None:
    (href,) = hrefs(get(plain, "/long-link").text)
    assert len(href) > LONG_URL_CHARS
    assert get(plain, href).status == 414


def login(server: SiteServer, **fields: str) -> Reply:
    found = re.search('name="csrf" value="(.+?)"', get(server, "/login").text)
    assert found
    form = {"user": "weft", "password": "secret", "csrf": found[1], **fields}
    return fetch(server.url_of("127.0.0.1", "/login"), "POST", urlencode(form).encode())


def test_members_are_behind_a_login(plain: SiteServer) -> None:
    assert get(plain, "/members/").headers["Location"] == "/login"
    reply = login(plain)
    assert (reply.status, reply.headers["Location"]) == (302, "/members/")
    cookie = reply.headers["Set-Cookie"].partition(";")[0]
    paths = hrefs(get(plain, "/members/", Cookie=cookie).text)
    assert [get(plain, path, Cookie=cookie).status for path in paths] == [200] * 5
    assert get(plain, "/members/5", Cookie=cookie).status == 404
    assert get(plain, "/members/0").headers["Location"] == "/login"


@pytest.mark.parametrize("wrong", [{"password": "x"}, {"user": "x"}, {"csrf": "x"}])
def test_wrong_logins_are_refused(plain: SiteServer, wrong: dict[str, str]) -> None:
    reply = login(plain, **wrong)
    assert reply.status == 403
    assert "Set-Cookie" not in reply.headers


def test_sitemap_names_all_pages(plain: SiteServer) -> None:
    urls = re.findall("<loc>(.+?)</loc>", get(plain, "/sitemap.xml").text)
    assert set(urls) == plain.page_urls()


def test_echo_tells_what_it_got(plain: SiteServer) -> None:
    url = plain.url_of("127.0.0.1", "/echo?a=b")
    seen = json.loads(fetch(url, "PUT", b"hello", {"X-Weft": "yes"}).body)
    assert (seen["method"], seen["path"], seen["body"]) == ("PUT", "/echo?a=b", "hello")
    assert seen["headers"]["X-Weft"] == "yes"


# HTTP


def test_connections_are_kept_alive(plain: SiteServer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", plain.port, timeout=10)
    connection.connect()
    first = connection.sock
    for path in ("/", "/p/1.html", "/missing/x", "/echo"):
        connection.request("GET", path)
        connection.getresponse().read()
        assert connection.sock is first
    connection.close()


def test_pipelined_requests_are_answered_in_order(plain: SiteServer) -> None:
    paths = ["/slow/0.1", "/status/418", "/slow/0.05", "/p/1.html"]
    requests = "".join(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n" for path in paths)
    last = "GET /status/403 HTTP/1.1\r\nConnection: close\r\n\r\n"
    received = send_raw(plain, (requests + last).encode())
    assert re.findall(rb"HTTP/1.1 (\d+)", received) == [b"200", b"418", b"200", b"200", b"403"]


def test_requests_may_arrive_byte_by_byte(plain: SiteServer) -> None:
    with socket.create_connection(("127.0.0.1", plain.port), timeout=10) as connection:
        for byte in b"POST /echo HTTP/1.1\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi":
            connection.sendall(bytes([byte]))
        received = b"".join(iter(lambda: connection.recv(65536), b""))
    assert json.loads(received.partition(b"\r\n\r\n")[2])["body"] == "hi"


def test_head_has_no_body(plain: SiteServer) -> None:
    received = send_raw(plain, b"HEAD / HTTP/1.1\r\nConnection: close\r\n\r\n")
    assert b"Content-Length: 10" in received
    assert received.endswith(b"\r\n\r\n")


def test_whole_urls_are_understood_as_of_a_proxy(plain: SiteServer) -> None:
    received = send_raw(plain, b"GET http://a.example/p/3.html HTTP/1.0\r\n\r\n")
    assert b"Page 3 of 127.0.0.1" in received


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", b"411"),
        (b"POST / HTTP/1.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n", b"413"),
    ],
)
def test_bad_requests_are_told_so(plain: SiteServer, data: bytes, status: bytes) -> None:
    assert send_raw(plain, data).startswith(b"HTTP/1.1 " + status)


# The log


def test_hits_tell_all_requests_in_order() -> None:
    before_s = time.monotonic()
    with SiteServer(Site(flaky_every=1)) as server:
        for path in ("/", "/p/1.html?a=b", "/p/1.html", "/broken/header"):
            send_raw(server, f"GET {path} HTTP/1.1\r\nConnection: close\r\n\r\n".encode())
        fetch(server.url_of("127.0.0.1", "/echo"), "POST", b"x")
        hits = server.hits()
        assert server.hits() == hits
    assert [(hit.method, hit.path, hit.status) for hit in hits] == [
        ("GET", "/", 200),
        ("GET", "/p/1.html?a=b", 500),
        ("GET", "/p/1.html", 200),
        ("GET", "/broken/header", 0),
        ("POST", "/echo", 200),
    ]
    times = [before_s, *(hit.at_s for hit in hits), time.monotonic()]
    assert times == sorted(times)
    assert {hit.host for hit in hits} == {"127.0.0.1"}


def test_hits_say_how_much_earlier_they_may_have_arrived() -> None:
    """Of a request on an open connection, and of one on a connection that has to be accepted."""
    request = b"GET /p/1.html HTTP/1.1\r\nHost: a\r\n\r\n"
    with SiteServer(Site()) as server:
        with socket.create_connection(("127.0.0.1", server.port)) as known:
            known.sendall(request)
            assert known.recv(1)
            os.kill(server.pid, signal.SIGSTOP)
            sent_at_s = time.monotonic()
            known.sendall(request)
            with socket.create_connection(("127.0.0.1", server.port)) as new:
                new.sendall(request)
                time.sleep(0.2)
                os.kill(server.pid, signal.SIGCONT)
                assert new.recv(1)
        _, *late = server.hits()
    assert len(late) == 2
    for hit in late:
        assert hit.at_s - hit.held_up_s <= sent_at_s + 0.05


def test_forget_empties_log_and_memory() -> None:
    with SiteServer(Site(flaky_every=1)) as server:
        assert get(server, "/p/1.html").status == 500
        server.forget()
        assert server.hits() == []
        assert get(server, "/p/1.html").status == 500
        (hit,) = server.hits()
    assert hit == Hit(hit.at_s, "127.0.0.1", "GET", "/p/1.html", 500)


def test_a_site_without_log_has_no_hits_to_tell() -> None:
    with SiteServer(Site(log=False)) as server:
        assert get(server, "/").status == 200
        server.forget()
        with pytest.raises(ConfigError, match="log=True"):
            server.hits()


# The process


def test_the_process_and_its_files_are_gone_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with SiteServer() as server:
        pid, port = server.pid, server.port
        assert any(tmp_path.iterdir())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=10)
    assert not any(tmp_path.iterdir())


def test_a_killed_server_leaves_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with SiteServer() as server:
        os.kill(server.pid, signal.SIGKILL)
    assert not any(tmp_path.iterdir())


_PARENT = """
import os, signal, sys
from weft.testing import SiteServer
server = SiteServer().__enter__()
heir = os.fork() if sys.argv[1] == "forks" else 0
if heir or sys.argv[1] != "forks":
    print(server.port, heir, flush=True)
signal.pause()
"""


@pytest.mark.parametrize("parent", ["alone", "forks"])
def test_the_server_dies_with_a_killed_parent(parent: str, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _PARENT, parent],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    ) as process:
        assert process.stdout
        port, heir = map(int, process.stdout.readline().split())
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
                process.kill()
                assert connection.recv(1) == b""
            wait_until(lambda: not any(tmp_path.iterdir()), "the server removed its files")
        finally:
            if heir:
                os.kill(heir, signal.SIGKILL)


def test_a_taken_port_is_told(plain: SiteServer) -> None:
    with (
        pytest.raises(WeftError, match=f"port {plain.port} is in use"),
        SiteServer(port=plain.port),
    ):
        pass


def test_a_server_that_is_not_started_has_no_port() -> None:
    with pytest.raises(WeftError, match="use `with`"):
        _ = SiteServer().url


def test_it_can_be_run_by_hand() -> None:
    command = [sys.executable, "-m", "weft.testing.site", "--pages", "7", "--latency-s", "0.01"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        url = process.stdout.readline().strip()
        assert len(good(crawl(url))) == 7
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10)
    assert (process.returncode, out, err) == (0, "", "")


def test_wrong_options_are_all_told() -> None:
    with pytest.raises(ConfigError) as caught:
        Site(pages=0, hosts=("8.8.8.8",), latency_s={"127.0.0.9": -1}, charset="x-none")
    for word in ("pages", "8.8.8.8", "negative", "127.0.0.9", "x-none"):
        assert word in str(caught.value)


def test_options_survive_the_way_to_the_process() -> None:
    site = Site(hosts=("127.0.0.1", "127.0.0.2"), latency_s={"127.0.0.2": 0.5}, theme="demo")
    assert Site.from_json(site.to_json()) == site


# The demo


@pytest.fixture(scope="module")
def shop() -> Iterator[SiteServer]:
    with SiteServer(Site(theme="demo")) as server:
        yield server


def test_demo_is_reachable_with_one_dead_link_and_one_redirect(shop: SiteServer) -> None:
    statuses = crawl(shop.url)
    assert good(statuses) == shop.page_urls()
    others = {urlsplit(url).path: status for url, status in statuses.items() if status != 200}
    assert others == {demo.DEAD_LINK: 404, "/old-shop": 302}


def test_demo_has_the_promised_pages(shop: SiteServer) -> None:
    paths = [urlsplit(url).path for url in shop.page_urls()]
    assert sum(bool(re.match(r"/news/\w+/\d", path)) for path in paths) == 45
    assert sum(bool(re.fullmatch(r"/news/\w+/(page-\d\.html)?", path)) for path in paths) == 9
    assert sum(path.startswith("/shop/books/") for path in paths) == 40
    assert 100 <= len(paths) <= 120


def test_demo_books_have_all_fields_and_covers(shop: SiteServer) -> None:
    book = get(shop, "/shop/books/warp-and-weft.html").text
    assert '<h1 class="name">Warp and Weft</h1>' in book
    assert '<span class="author">Solveig Arden</span>' in book
    assert '<p class="price">£19.95</p>' in book
    assert '<div class="description"><p>Weaving' in book
    cover = get(shop, "/covers/warp-and-weft.svg")
    assert 'src="/covers/warp-and-weft.svg"' in book
    assert (cover.status, cover.headers["Content-Type"]) == (200, "image/svg+xml")


def test_demo_articles_are_all_different_and_filled_in() -> None:
    pages = [html for path, html in demo.pages().items() if re.match(r"/news/\w+/\d", path)]
    titles = {re.findall("<h1>(.+?)</h1>", html)[0] for html in pages}
    assert len(titles) == 45
    for html in pages:
        article = html.partition("<article>")[2].partition("</article>")[0]
        assert article.count("<p>") >= 4
        assert "{" not in article
        assert '<time datetime="202' in article
