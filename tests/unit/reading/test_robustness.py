# ruff: noqa: RUF001 (Chinese punctuation is meant)
"""Broken, shuffled, poisoned and huge pages: they cost a bounded time, and nothing raises."""

import time
from contextlib import suppress
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.boards.reading import reading
from weft.boards.reading.article.metadata import Metadata, find_metadata
from weft.boards.reading.page import open_page
from weft.boards.reading.reading import ReadOptions
from weft.errors import PageError

URL = "https://www.dailyharbour.example/news/ferry"
TODAY = date(2025, 6, 1)
#: CPU seconds; a page of a megabyte that no rule stumbles over costs a few hundredths.
LIMIT_S = 0.5
LINKED = '<script type="application/ld+json">'

ENGLISH = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">
<title>Ferry returns after storm | Daily Harbour</title>
<meta property="og:title" content="Ferry returns after storm">
<meta name="author" content="Ann Lee"><link rel="canonical" href="/news/ferry">
<meta property="article:published_time" content="2024-05-01">
<script type="application/ld+json">{"@context":"https://schema.org","@graph":[
{"@type":"NewsArticle","headline":"Ferry returns after storm",
"author":[{"@id":"#ann"}],"datePublished":"2024-05-01T12:30Z",
"image":["/a.jpg"]},{"@type":"Person","@id":"#ann","name":"Ann Lee"}]}</script></head><body>
<h1>Ferry returns after storm</h1><p class="byline">By
<a rel="author" href="/authors/ann">Ann Lee</a>,
<time datetime="2024-05-01T12:30:00+02:00">1 May 2024, 12:30</time></p>
<article><p>The ferry came back to the harbour.</p><img src="b.jpg" width="640"></article>
</body></html>"""
CHINESE = """<html><head><meta http-equiv="Content-Type" content="text/html; charset=gb2312">
<title>渡轮在风暴后恢复通航_本地新闻_海港网</title></head><body>
<table><tr><td>首页 > 本地新闻</td></tr>
<tr><td class="title">渡轮在风暴后恢复通航</td></tr>
<tr><td>来源：海港网 2004年11月2日 10:21 作者：张小海</td></tr>
<tr><td>渡轮今天回到了港口。（记者 赵明）</td></tr>
<tr><td>责任编辑：孙海</td></tr></table></body></html>"""
FORUM = """<html><title>Which ferry?</title><body><h2>Which ferry?</h2><div class="post">
<a class="username" href="/members/bo">bo7</a>
<span>Posted: 05/06/2023, 3:20 pm</span><p>Which one do you take?</p></div></body></html>"""
PAGES = (ENGLISH.encode(), CHINESE.encode("gbk"), FORUM.encode("utf-16"))
POISON = (b"\0", b"\xff\xfe", b"\x80", b"<", b"</", b"<!--", b"<script>", b"]]>", b'"', b"&#0;",
          b"&#x110000;", b"<h1>", b"<table>", b"\x1b$B", b"{", b"\xed\xa0\x80",
          b"<base href='//['>",
          b"<meta charset=utf-7>", b"9" * 99)  # fmt: skip


def read(page: bytes, url: str = URL) -> Metadata | None:
    try:
        opened = open_page(page, url)
    except PageError:
        return None
    return find_metadata(opened, TODAY)


def read_whole(page: bytes, url: str = URL) -> None:
    """With topic links, next page, kind and body; nothing but a PageError may be raised."""
    with suppress(PageError):
        reading.read(page, url, today=TODAY, options=ReadOptions(is_article=True))


def test_pages_of_this_module_are_read_if_nothing_is_broken() -> None:
    found = [read(page) for page in PAGES]
    assert [(data.authors, data.published) for data in found if data] == [
        (("Ann Lee",), "2024-05-01T12:30:00+00:00"),
        (("张小海",), "2004-11-02T10:21:00"),
        (("bo7",), "2023-05-06T15:20:00"),
    ]


@given(st.sampled_from(PAGES), st.floats(0, 1), st.floats(0, 1))
def test_cut_pages_are_read(page: bytes, start: float, end: float) -> None:
    read_whole(page[int(start * len(page)) :])
    read_whole(page[: int(end * len(page))])


@given(st.sampled_from(PAGES), st.integers(2, 200), st.randoms(use_true_random=False))
def test_shuffled_pages_are_read(page: bytes, size: int, random: object) -> None:
    pieces = [page[at : at + size] for at in range(0, len(page), size)]
    random.shuffle(pieces)  # type: ignore[attr-defined]
    read_whole(b"".join(pieces))


@given(
    st.sampled_from(PAGES),
    st.lists(st.tuples(st.floats(0, 1), st.sampled_from(POISON) | st.binary(max_size=30))),
)
def test_poisoned_pages_are_read(page: bytes, poison: list[tuple[float, bytes]]) -> None:
    for place, junk in poison:
        at = int(place * len(page))
        page = page[:at] + junk + page[at:]
    read_whole(page)


@given(st.text(max_size=80))
def test_any_text_may_be_the_url(url: str) -> None:
    read_whole(PAGES[0], url)


@given(st.text(max_size=40))
def test_any_text_may_be_a_value(value: str) -> None:
    quoted = value.replace('"', "")
    metas = "".join(
        f'<meta name="{name}" content="{quoted}">'
        for name in ("date", "author", "og:title", "og:url", "og:image", "keywords", "og:locale")
    )
    read_whole(f"<title>{quoted}</title>{metas}<h1>{quoted}</h1><p>{quoted}".encode())


@pytest.mark.parametrize(
    "place", ["title", "heading", "text", "meta", "linked", "attribute", "url"]
)
@pytest.mark.parametrize(
    "piece",
    [
        *(" ", "1", "(", ".", "a: ", " | ", "2024 ", "2024-", "1/", "12:30 ", "may 5 ", "by A "),
        *("&amp;", "作者：", "（记者", "王 ", "\u3000", "2024年", "更新", "二", "民國9"),
    ],
)
def test_megabyte_of_the_same_is_read_in_time(piece: str, place: str) -> None:
    long = piece * (1_000_000 // len(piece))
    start = "<title>Ferry returns</title>"
    html = {
        "title": f"<title>Ferry {long}</title><h1>Ferry</h1>",
        "heading": f"{start}<h1>Ferry returns {long}</h1><p>2024-05-01</p>",
        "text": f"{start}<h1>Ferry returns</h1><p>{long}</p>",
        "meta": f'{start}<meta name=author content="{long}">',
        "linked": f'{LINKED}{{"@type":"Article","headline":"{long}"}}</script>',
        "attribute": f'{start}<h1>Ferry returns</h1><a class="author {long}" href="{long}">By</a>',
        "url": start,
    }[place]
    page = open_page(html.encode(), URL + (long[:100_000] if place == "url" else ""))
    started = time.process_time()
    find_metadata(page, TODAY)
    assert time.process_time() - started < LIMIT_S


@pytest.mark.parametrize(
    "value",
    [
        '{"@type":"Article","author":[' + '"Ann Lee",' * 100_000 + '"Bo"]}',
        "[" + '{"@type":"Article","headline":"x","author":{"@id":"#a"}},' * 10_000 + "{}]",
        "[" * 100_000,
        '{"@type":' * 50_000,
        "1" * 1_000_000,
    ],
    ids=["authors", "articles", "lists", "objects", "digits"],
)
def test_huge_json_ld_is_read_in_time(value: str) -> None:
    page = open_page(f"{LINKED}{value}</script><h1>x</h1>".encode(), URL)
    started = time.process_time()
    find_metadata(page, TODAY)
    assert time.process_time() - started < LIMIT_S
