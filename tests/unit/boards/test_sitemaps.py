"""Sitemaps of all kinds, and the robots.txt that names them."""

import gzip
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.boards.feeds import (
    Sitemap,
    SitemapPage,
    looks_like_feed,
    looks_like_sitemap,
    read_sitemap,
    robots_sitemaps,
)
from weft.boards.feeds.sitemap import MAX_PAGES
from weft.errors import PageError

URL = "https://harbour.example/maps/sitemap.xml"
SITEMAP = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
#: CPU seconds for the worst of these.
LIMIT_S = 8.0

PAGES = f"""<?xml version="1.0" encoding="UTF-8"?>
<urlset {SITEMAP} xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"
  xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
<url><image:image><image:loc>https://harbour.example/a.jpg</image:loc></image:image>
<loc> https://harbour.example/ferry?a=1&amp;b=2#top </loc><lastmod>2026-11-19</lastmod></url>
<url><loc>/tides</loc><lastmod>2026-11-19T01:49:34.5+08:00</lastmod>
<news:news><news:publication><news:name>Harbour</news:name></news:publication>
<news:publication_date>2026-11-18T10:00Z</news:publication_date>
<news:title>Tides &amp; winds</news:title></news:news></url>
<url><loc>/tides</loc></url><url><loc>ftp://harbour.example/a</loc></url><url><lastmod/></url>
</urlset>"""
READ_PAGES = Sitemap(
    pages=(
        SitemapPage("https://harbour.example/ferry?a=1&b=2", "2026-11-19"),
        SitemapPage(
            "https://harbour.example/tides",
            "2026-11-19T01:49:34+08:00",
            is_news=True,
            title="Tides & winds",
            published="2026-11-18T10:00:00+00:00",
        ),
    )
)
INDEX = f"""<sitemapindex {SITEMAP}>
<sitemap><loc>https://harbour.example/maps/1.xml.gz</loc><lastmod>2026-11-19</lastmod></sitemap>
<sitemap><loc>2.xml</loc></sitemap><sitemap><loc>2.xml</loc></sitemap>
<sitemap><loc>{URL}</loc></sitemap><sitemap><loc>javascript:x</loc></sitemap></sitemapindex>"""
LINES = (
    "\ufeffhttps://harbour.example/1\r\n\r\nhttp://harbour.example/2 \nx\nhttps://harbour.example/1"
)


def test_pages_are_read_with_dates_and_news() -> None:
    assert read_sitemap(PAGES.encode(), URL) == READ_PAGES


def test_an_index_names_other_sitemaps_each_once() -> None:
    assert read_sitemap(INDEX.encode(), URL) == Sitemap(
        sitemaps=("https://harbour.example/maps/1.xml.gz", "https://harbour.example/maps/2.xml")
    )


def test_a_text_has_a_url_in_each_line() -> None:
    found = read_sitemap(LINES.encode(), URL).pages
    assert [page.url for page in found] == [
        "https://harbour.example/1",
        "http://harbour.example/2",
    ]


@pytest.mark.parametrize("written", [PAGES, INDEX, LINES], ids=["pages", "index", "lines"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_packing_and_encoding_are_told_by_the_bytes(written: str, encoding: str) -> None:
    plain = read_sitemap(written.encode(), URL)
    body = written.encode(encoding)
    cut = len(body) // 3
    pieces = gzip.compress(body[:cut]) + gzip.compress(body[cut:])
    for each in (body, gzip.compress(body), pieces, gzip.compress(body) + b"\0\0"):
        assert looks_like_sitemap(each)
        assert not looks_like_feed(each, "application/xml")
        assert read_sitemap(each, URL) == plain


@pytest.mark.parametrize(
    "broken",
    [
        PAGES.replace("&amp;", "&"),
        PAGES.replace("</urlset>", ""),
        PAGES.replace(' xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"', ""),
        PAGES.replace("<lastmod/>", "<lastmod>").replace("</image:loc>", ""),
        PAGES.replace(f"<urlset {SITEMAP}", "<urlset"),
        PAGES.replace("<url>", "<url a=1>").replace("</lastmod></url>", "</lastmod></b></url>"),
        "\n " + PAGES,
    ],
)
def test_a_broken_sitemap_is_read_like_a_whole_one(broken: str) -> None:
    assert read_sitemap(broken.encode(), URL) == READ_PAGES


def test_of_a_packed_sitemap_that_is_cut_the_beginning_is_read() -> None:
    urls = "".join(f"<url><loc>/{number * 7919 % 9973}</loc></url>" for number in range(1_000))
    body = gzip.compress(f"<urlset>{urls}</urlset>".encode())
    found = read_sitemap(body[: len(body) // 2], URL).pages
    whole = read_sitemap(body, URL).pages
    assert 0 < len(found) < len(whole)
    assert found == whole[: len(found)]


def test_no_more_pages_than_the_protocol_allows_are_read() -> None:
    urls = "".join(f"<url><loc>/{number}</loc></url>" for number in range(MAX_PAGES + 5))
    lines = "\n".join(f"http://h.example/{number}" for number in range(MAX_PAGES + 5))
    for text in (f"<urlset>{urls}</urlset>", lines):
        assert len(read_sitemap(text.encode(), URL).pages) == MAX_PAGES


@pytest.mark.parametrize(
    "page",
    [
        "<!DOCTYPE html><html><p>A <urlset> has <url>s",
        "<rss version='2.0'><channel/></rss>",
        "<urlsets/>",
        "See https://harbour.example/",
        "https://harbour.example/ is our site",
        '{"a": "http://harbour.example/"}',
        "",
    ],
)
def test_what_is_no_sitemap_is_none(page: str) -> None:
    assert not looks_like_sitemap(page.encode())
    with pytest.raises(PageError, match="no sitemap"):
        read_sitemap(page.encode(), URL)


HOSTILE: dict[str, Callable[[], bytes]] = {
    "packed": lambda: gzip.compress(b"<urlset>" + b" " * 60_000_000, 1),
    "pieces": lambda: gzip.compress(b"") * 200_000,
    "junk": lambda: b"\x1f\x8b" * 500_000,
    "large": lambda: b"<urlset>" + b"x" * 60_000_000,
    "elements": lambda: b"<urlset>" + b"<a/>" * 1_300_000,
    "deep": lambda: b"<urlset>" + b"<url>" * 100_000,
    "attributes": lambda: b"<urlset>" + b"<a b='' c='' d='' e='' f=''>" * 50_000,
    "urls": lambda: b"<urlset>" + b"<url><loc>http://[::1/</loc></url>" * 50_000,
    "dates": lambda: b"<urlset>" + b"".join(
        b"<url><loc>/%d</loc><lastmod>1.1.2026 1.1.2026 1 x 2026 10:10</lastmod></url>" % number
        for number in range(20_000)
    ),
    "lines": lambda: b"http://h.example/\n" * 1_000_000,
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_sitemap_costs_a_bounded_time(name: str) -> None:
    body = HOSTILE[name]()
    begun_s = time.process_time()
    looks_like_sitemap(body)
    assert time.process_time() - begun_s < 0.5
    with suppress(PageError):
        read_sitemap(body, URL)
    assert time.process_time() - begun_s < LIMIT_S


_CHILD = """
import gzip, resource
from weft.boards.feeds import read_sitemap
from weft.errors import PageError
body = gzip.compress(b"<urlset>" + b"<a b='' c='' d='' e=''>" * 1_200_000 + b" " * 1_000_000, 1)
bomb = gzip.compress(b"<urlset>" + b" " * 100_000_000, 1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for packed in (body, bomb):
    try:
        read_sitemap(packed, "https://harbour.example/")
    except PageError as error:
        print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_a_file_that_unpacks_to_much_needs_little_memory() -> None:
    """In a process of its own, because a process does not forget the most that it has needed. What
    it needs to make the files, which is more than it may need to read them, counts for nothing."""
    answer = subprocess.run(
        [sys.executable, "-c", _CHILD], capture_output=True, text=True, check=True, timeout=100
    )
    *errors, grown_kib = answer.stdout.splitlines()
    assert errors[-1] == "not read: more than 52428800 bytes"
    assert int(grown_kib) < 300_000


def test_robots_txt_names_sitemaps() -> None:
    text = (
        "\ufeffSitemap: https://harbour.example/1.xml\nUser-agent: *\r\nDisallow: /sitemap: x\r"
        "SITEMAP:https://harbour.example/2.xml # the second\n  sitemap : http://h.example/3.xml#x\n"
        "# Sitemap: https://harbour.example/4.xml\nSitemap: /5.xml\nSitemap:\n"
        "Sitemap: https://harbour.example/1.xml\nSitemaps: https://harbour.example/6.xml"
    )
    assert robots_sitemaps(text) == [
        "https://harbour.example/1.xml",
        "https://harbour.example/2.xml",
        "http://h.example/3.xml",
    ]


@pytest.mark.parametrize("line", ["Sitemap: http://[\n", "sitemap" + " " * 5_000, "\n" * 50, "\r "])
def test_a_robots_txt_of_junk_names_nothing_and_costs_little(line: str) -> None:
    begun_s = time.process_time()
    assert robots_sitemaps(line * 10_000) == []
    assert time.process_time() - begun_s < 1.0


SEEDS = [PAGES.encode(), INDEX.encode(), LINES.encode(), gzip.compress(PAGES.encode())]


@st.composite
def broken_sitemaps(draw: st.DrawFn) -> bytes:
    body = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(0, 6))):
        place = draw(st.integers(0, len(body)))
        end = place + draw(st.integers(0, 40))
        body = body[:place] + draw(st.binary(max_size=8)) + body[end:]
    return gzip.compress(body) if draw(st.booleans()) else body


@settings(max_examples=150, deadline=None)
@given(broken_sitemaps() | st.binary(max_size=100), st.sampled_from([URL, "", "junk", "http://["]))
def test_only_page_errors_are_raised(body: bytes, url: str) -> None:
    looks_like_sitemap(body)
    try:
        sitemap = read_sitemap(body, url)
    except PageError:
        return
    for found in (*sitemap.sitemaps, *(page.url for page in sitemap.pages)):
        assert found.startswith(("http://", "https://"))


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=200) | st.text("Sitemap: htp/x\n\r\ufeff", max_size=200))
def test_any_text_can_be_a_robots_txt(text: str) -> None:
    for found in robots_sitemaps(text):
        assert found.startswith(("http://", "https://"))
