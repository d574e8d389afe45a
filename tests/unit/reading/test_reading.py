"""A page becomes a reading, within its limits."""

import json
import math
import subprocess
import sys
from datetime import date

import pytest

from weft.boards.fields import FoundFields, parse_rules
from weft.boards.reading.article.body import Body
from weft.boards.reading.article.simhash import simhash
from weft.boards.reading.kind import Provenance
from weft.boards.reading.reading import ReadOptions, read
from weft.clock import monotonic_s
from weft.demo import news
from weft.errors import PageError

URL = "https://example.org/news/town/story.html"
ARTICLE = next(iter(news.article_pages().values())).encode()
LIST = news.list_pages()["/news/town/"].encode()
#: More than anything here takes on a machine that does other things, too.
SOON_S = 20

#: Reads a page in a process of its own; tells what came of it, and the time and memory it took.
READ = """
import json, re, sys
from pathlib import Path
from time import process_time
from weft.boards.reading.reading import read, ReadOptions
from weft.errors import PageError

page = eval(sys.argv[1])
read(b"<p>what is imported only once</p>", options=ReadOptions(is_article=True))
started_s = process_time()
try:
    read(page, "https://example.org/", options=ReadOptions(is_article=True))
    problem = ""
except PageError as error:
    problem = str(error)
peak_mb = int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024
print(json.dumps([problem, process_time() - started_s, peak_mb]))
"""


def test_an_article_is_read_with_all_its_fields() -> None:
    reading = read(ARTICLE, URL)
    assert reading.kind == "data"
    assert reading.judgement.article.reasons
    assert reading.article is not None
    assert reading.article.title == reading.title
    assert reading.article.simhash == f"{simhash(reading.article.body):016x}"
    assert reading.links == ()


def test_a_list_is_not_read_as_an_article() -> None:
    reading = read(LIST, URL)
    assert (reading.kind, reading.article) == ("nav", None)
    assert len(reading.links) == news.PER_PAGE
    assert reading.next == ("https://example.org/news/town/page-2.html",)


def test_article_and_list_tell_what_the_page_announces() -> None:
    head = b'<link rel="canonical" href="/own"><link rel="alternate" href="/feed" '
    head += b'type="application/rss+xml">'
    for page in (ARTICLE, LIST):
        reading = read(head + page, URL)
        assert reading.canonical_url == "https://example.org/own"
        assert reading.feeds == ("https://example.org/feed",)
        assert reading.article is None or reading.article.canonical_url == reading.canonical_url


def test_a_list_is_read_as_an_article_if_asked() -> None:
    reading = read(LIST, URL, options=ReadOptions(is_article=True))
    assert reading.kind == "nav"
    assert reading.article is not None


def test_how_a_crawl_came_to_a_page_changes_its_kind() -> None:
    page = b"<h1>A short note</h1><p>The mill is closed on Monday.</p>"
    linked = Provenance(links=20, topic_links=20)
    assert read(page, URL, provenance=linked).kind == "data"
    assert read(page, URL, provenance=Provenance(links=20)).kind == "nav"


def test_fast_reading_finds_the_same_text_in_another_way() -> None:
    fast = read(ARTICLE, URL, options=ReadOptions(is_fast=True))
    assert fast.article is not None
    assert "oak planks" in fast.article.body
    assert fast.method == "resiliparse"


def test_rules_replace_fields_and_name_what_they_did_not_find() -> None:
    rules = parse_rules(b"fields: {title: title, body: '.meta', shop: .shop}", "rules.yaml")
    reading = read(ARTICLE, URL, options=ReadOptions(rules=rules))
    assert reading.article is not None
    assert reading.title == reading.article.title != read(ARTICLE, URL).title
    assert reading.article.simhash == f"{simhash(reading.article.body):016x}"
    assert list(reading.unmatched) == ["shop"]


def test_a_date_after_tomorrow_is_not_believed() -> None:
    assert read(ARTICLE, URL, today=date(2025, 3, 31)).article.published == "2025-03-31"  # type: ignore[union-attr]
    assert read(ARTICLE, URL, today=date(2025, 3, 1)).article.published == ""  # type: ignore[union-attr]


def test_a_page_that_takes_too_long_is_given_up() -> None:
    with pytest.raises(PageError, match=r"longer than 0\.0001 s") as told:
        read(ARTICLE * 20, URL, options=ReadOptions(seconds=0.0001))
    assert told.value.limit == "seconds"


def test_a_page_may_take_for_ever() -> None:
    assert read(ARTICLE, URL, options=ReadOptions(seconds=math.inf)) == read(ARTICLE, URL)


def test_slow_rules_have_only_the_time_that_the_page_has_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("weft.boards.reading.reading.RULES_SECONDS", 3600)
    rules = parse_rules(b"fields: {slow: {regex: '(a|aa)+$'}}", "rules.yaml")
    page = ARTICLE.replace(b"</body>", b"<p>" + b"a" * 200 + b"!</p></body>")
    started_s = monotonic_s()
    reading = read(page, URL, options=ReadOptions(seconds=1, rules=rules))
    assert monotonic_s() - started_s < SOON_S
    assert "took too long" in reading.unmatched["slow"]
    assert reading.article is not None
    assert "oak planks" in reading.article.body


def test_no_time_is_left_for_rules_of_a_page_that_took_all_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked_s: list[float] = []

    def note(*_: object, seconds: float, **__: object) -> FoundFields:
        asked_s.append(seconds)
        return FoundFields()

    def slow(*_: object, seconds: float, **__: object) -> Body:
        end_s = monotonic_s() + seconds
        while monotonic_s() <= end_s:
            pass
        return Body()

    monkeypatch.setattr("weft.boards.reading.reading.apply_rules", note)
    monkeypatch.setattr("weft.boards.reading.reading.read_body", slow)
    read(ARTICLE, URL, options=ReadOptions(seconds=0.5))
    assert asked_s == [0.0]


@pytest.mark.parametrize(
    ("page", "limit"),
    [
        pytest.param("b'<p>words ' * 2_000_000", "more bytes than 10,000,000", id="20 MB"),
        pytest.param("b'<div>' * 100_000", "more open tags than 2,000", id="100,000 deep"),
        pytest.param("b'<b>' * 100_000", "", id="100,000 times bold"),
        pytest.param("b'<a href=x>' * 99_000", "", id="99,000 links"),
        pytest.param("b'<p>some words of a long page</p>' * 99_000", "more tags", id="many tags"),
        pytest.param("b'<p>' + b'words and words ' * 590_000", "", id="9 MB of text"),
        pytest.param("('<p>' + '文字' * 1_500_000).encode()", "", id="9 MB of Chinese"),
        pytest.param("b'<table><tr><td>' * 1_900", "", id="nested tables"),
        pytest.param("b' ' * 5_000_000 + b'<p>x', ", "", id="white space"),
    ],
)
def test_no_page_takes_longer_or_more_memory_than_its_limit(page: str, limit: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", READ, page.rstrip(", ")], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    problem, seconds, peak_mb = json.loads(done.stdout)
    assert limit in problem
    assert seconds < 2.5
    assert peak_mb < 500
