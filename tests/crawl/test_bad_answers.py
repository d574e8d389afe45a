"""Answers that make no sense cost one page each, are recorded, and leave no traceback."""

from collections import defaultdict
from pathlib import Path

import pytest
from crawling import crawl
from walking import Reader

from rawserver import RawServer, Script
from weft.records import Ending

REDIRECTS = [
    b"http://[::1",
    b"http://[nonsense]/",
    b"http://exa mple/",
    b"http://host:99999/",
    b"http://host:port/",
    b"http://",
    b"//",
    b"//[",
    b"https:",
    b":",
    b"?",
    b"\xff\xfe",
    b"http://%zz/",
    b"javascript:alert(1)",
    b"data:text/html,hi",
    b"file:///etc/passwd",
    b"mailto:a@b.c",
    b"ftp://h/",
    b"/" + b"x" * 70_000,
    b"\x00\x01",
    b"http://user:pa ss@[::1/",
]
#: Names of codecs that cannot decode bytes into text, or not all bytes.
NO_TEXT = ["base64", "rot13", "hex", "uu", "zip", "bz2", "quopri", "idna", "punycode", "undefined"]
CHARSETS = [
    *NO_TEXT,
    *("utf-7", "unicode_escape", "raw_unicode_escape", "no-such-charset", "mbcs", "\x00", "ü"),
]
PAGE = "<html><head><title>t</title>%s</head><body><p>%s</p></body></html>"


def answer(status: bytes, headers: dict[bytes, bytes], body: bytes = b"") -> Script:
    lines = [b"HTTP/1.1 " + status]
    lines += [name + b": " + value for name, value in headers.items()]
    lines += [b"Content-Length: %d" % len(body), b"", b""]
    return Script([b"\r\n".join(lines) + body])


def test_a_redirect_to_nowhere_is_a_failure_of_its_page(tmp_path: Path) -> None:
    scripts = defaultdict(lambda: answer(b"404 Not Found", {}))
    for number, target in enumerate(REDIRECTS):
        scripts[f"r{number}"] = answer(b"302 Found", {b"Location": target})
    with RawServer(scripts) as server:
        urls = [f"http://127.0.0.1:{server.port}/{name}" for name in scripts]
        done = crawl(tmp_path, Reader, urls=urls)
        told = {url: done.explain(url) for url in urls}
    assert "Traceback" not in done.log, done.log[done.log.index("Traceback") - 500 :][:3000]
    assert done.reason == "finished"
    for url, target in zip(urls, REDIRECTS, strict=True):
        [fetch] = told[url].fetches
        assert fetch.ending in (Ending.FAILED, Ending.REPLACED), (target, fetch)


@pytest.mark.parametrize("place", ["header", "meta"])
def test_a_charset_that_is_none_is_left_out(tmp_path: Path, place: str) -> None:
    scripts = {}
    for number, charset in enumerate(CHARSETS):
        name = charset.encode("latin-1")
        meta = f'<meta charset="{charset}">' if place == "meta" else ""
        kind = b"text/html" + (b"; charset=" + name if place == "header" else b"")
        body = (PAGE % (meta, "grüße")).encode()
        scripts[f"c{number}"] = answer(b"200 OK", {b"Content-Type": kind}, body)
    with RawServer(scripts) as server:
        urls = [f"http://127.0.0.1:{server.port}/{name}" for name in scripts]
        done = crawl(tmp_path, Reader, urls=urls)
    assert "Traceback" not in done.log, done.log[done.log.index("Traceback") - 500 :][:3000]
    texts = {item["url"]: item["text"] for item in done.stored()}
    assert len(texts) == len(urls)
    assert {texts[url] for url, name in zip(urls, CHARSETS, strict=True) if name in NO_TEXT} == {
        "grüße"
    }
