"""`weft extract`: files, standard input and URLs become reports or JSON."""

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from running import WEFT, Weft
from weft.boards.reading.reading import ReadOptions
from weft.clock import monotonic_s
from weft.demo import news, shop
from weft.demo.catalogue import BOOKS
from weft.demo.frame import SITE_NAME
from weft.engine import fetching
from weft.services.readings import PageSource, read_pages
from weft.testing import Site, SiteServer, wait_until

URL = "https://example.org/news/town/story.html"
STORY = news.article_pages()
TODAY = date(2026, 11, 19)


@pytest.fixture(scope="module")
def demo() -> Iterator[SiteServer]:
    with SiteServer(Site(theme="demo")) as server:
        yield server


def objects(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


@pytest.fixture
def article(tmp_path: Path) -> Path:
    path, page = next(iter(STORY.items()))
    file = tmp_path / Path(path).name
    file.write_text(page)
    return file


def test_the_articles_of_the_demo_site_have_exactly_their_fields(
    weft: Weft, demo: SiteServer
) -> None:
    wanted = [article for section in news.SECTIONS for article in news.articles(section)]
    urls = [demo.url.rstrip("/") + article.path for article in wanted]
    done = weft("extract", "--json", *urls)
    assert done.returncode == 0, done.stderr
    for url, article, found in zip(urls, wanted, objects(done.stdout), strict=True):
        assert found["url"] == url
        assert found["kind"] == "data"
        assert found["title"] == article.title
        assert found["authors"] == [article.author]
        assert found["published"] == article.published.isoformat()
        assert found["body"].split("\n") == article.paragraphs
        assert found["language"] == "en"
        assert found["links"] == []


def test_the_lists_of_the_demo_site_lead_to_their_articles(weft: Weft, demo: SiteServer) -> None:
    root = demo.url.rstrip("/")
    for section in news.SECTIONS:
        pages = [path for path in news.list_pages() if path.startswith(f"/news/{section}/")]
        done = weft("extract", "--json", *[root + path for path in pages])
        found = objects(done.stdout)
        assert [page["kind"] for page in found] == ["nav"] * len(pages)
        links = [link["url"] for page in found for link in page["links"]]
        assert links == [root + article.path for article in news.articles(section)]
        following = [page["next"][0] if page["next"] else None for page in found]
        assert following == [*(root + path for path in pages[1:]), None]


def test_the_books_of_the_demo_site_have_their_name_author_and_cover(
    weft: Weft, demo: SiteServer
) -> None:
    root = demo.url.rstrip("/")
    books = [book for category in BOOKS.values() for book in category]
    done = weft("extract", "--json", *[root + shop.book_path(book) for book in books])
    for book, found in zip(books, objects(done.stdout), strict=True):
        assert found["kind"] == "data"
        assert found["title"] == book.name
        assert found["authors"] == [book.author]
        assert found["images"][:1] == [root + shop.cover_path(book)]
        assert found["description"] == book.hook
        assert book.hook in found["body"].split("\n")


def test_a_report_tells_the_kind_the_fields_and_the_start_of_the_body(
    weft: Weft, article: Path
) -> None:
    shown = weft("extract", article.name, "--url", URL).stdout
    assert shown.startswith(URL)
    assert re.search(r"is an article \(\d\.\d\d\)\n {6}\S", shown)
    assert re.search(r"^  title +Footbridge at Tanner's Quay", shown, re.MULTILINE)
    assert re.search(r"^  authors +Hester Quill$", shown, re.MULTILINE)
    assert re.search(r"^  published +2025-03-31$", shown, re.MULTILINE)
    assert re.search(r"^  body +[\d,]+ characters, by \w+:$", shown, re.MULTILINE)
    assert "oak planks" in shown


def test_a_page_comes_from_standard_input(tmp_path: Path, article: Path) -> None:
    done = subprocess.run(
        [WEFT, "extract", "-", "--url", URL, "--json"],
        input=article.read_bytes(),
        capture_output=True,
        cwd=tmp_path,
        timeout=60,
    )
    [found] = objects(done.stdout.decode())
    assert (found["source"], found["url"]) == ("-", URL)
    assert found["title"].startswith("Footbridge")


def test_rules_override_fields_and_add_new_ones(weft: Weft, tmp_path: Path, article: Path) -> None:
    (tmp_path / "rules.yaml").write_text(
        "fields:\n"
        "  title: title\n"
        "  author: {css: 'span.author', steps: [upper]}\n"
        "  section: {regex: 'news/(\\w+)/', in: url}\n"
        "  price: .price\n"
    )
    done = weft("extract", article.name, "--url", URL, "--rules", "rules.yaml", "--json")
    [found] = objects(done.stdout)
    assert found["title"].endswith(SITE_NAME)
    assert found["authors"] == ["HESTER QUILL"]
    assert found["extra"] == {"section": "town"}
    shown = weft("extract", article.name, "--url", URL, "--rules", "rules.yaml").stdout
    assert "the rule for price found nothing" in shown


def test_all_mistakes_in_rules_are_told_at_once(weft: Weft, tmp_path: Path, article: Path) -> None:
    (tmp_path / "rules.yaml").write_text("fields:\n  title: 'h1['\n  id: {regexp: x}\n")
    done = weft("extract", article.name, "--rules", "rules.yaml")
    assert done.returncode == 1
    assert "rules.yaml:2" in done.stderr
    assert "rules.yaml:3" in done.stderr
    assert "regex" in done.stderr


def test_what_cannot_be_read_costs_no_other_page(
    weft: Weft, tmp_path: Path, article: Path, demo: SiteServer
) -> None:
    (tmp_path / "huge.html").write_bytes(b"x" * 11_000_000)
    names = [demo.url + "nope", "huge.html", "http://127.0.0.1:1/", str(tmp_path), "nosuch"]
    done = weft("extract", "--json", *names, article.name)
    assert done.returncode == 1
    found = objects(done.stdout)
    assert [page["source"] for page in found] == [*names, article.name]
    problems = [page.get("problem", "") for page in found]
    assert "404" in problems[0]
    assert problems[1] == "not parsed: more bytes than 10,000,000"
    assert "refused" in problems[2]
    assert "directory" in problems[3]
    assert "no such file" in problems[4]
    assert problems[5] == ""
    assert "1 of 6 pages read" in done.stderr


def test_many_files_are_read_in_their_order_by_several_processes(
    weft: Weft, tmp_path: Path
) -> None:
    for number, page in enumerate(STORY.values()):
        (tmp_path / f"{number}.html").write_text(page)
    names = [f"{number}.html" for number in range(len(STORY))]
    done = weft("extract", "--json", *names)
    assert done.returncode == 0, done.stderr
    found = objects(done.stdout)
    assert [page["source"] for page in found] == names
    assert all(page["title"] for page in found)


def test_redirects_are_followed(weft: Weft) -> None:
    with SiteServer(Site(pages=3)) as server:
        done = weft("extract", server.url + "r/1", "--json")
    [found] = objects(done.stdout)
    assert found["source"] == server.url + "r/1"
    assert found["url"] == server.url + "p/1.html"
    assert found["title"]


async def test_a_page_that_never_comes_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(fetching.SETTINGS, "DOWNLOAD_TIMEOUT", 0.2)
    with SiteServer(Site(pages=3, latency_s=3600)) as server:
        sources = [PageSource(server.url), PageSource(server.url + "p/1.html")]
        found = [page async for page in read_pages(sources, ReadOptions(), TODAY)]
    assert [page.source for page in found] == [source.name for source in sources]
    assert all("took longer than 0.2 seconds" in page.problem for page in found)


def test_a_page_that_takes_too_long_is_told(weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "long.html").write_bytes(b"<p>some words of a page</p>" * 40_000)
    done = weft("extract", "long.html", "--as-article", "--seconds", "0.1")
    assert done.returncode == 1
    assert "not read: it took longer than 0.1 s" in done.stderr


def test_robots_txt_is_obeyed(weft: Weft) -> None:
    with SiteServer(Site(pages=3, robots="User-agent: *\nDisallow: /")) as server:
        done = weft("extract", server.url)
    assert done.returncode == 1
    assert "robots.txt forbids it" in done.stderr


def test_control_characters_of_a_page_do_not_reach_the_terminal(weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "evil.html").write_text(
        "<title>x</title><h1>Red \x1b[31m alert \x9b2J</h1><p>text</p>"
    )
    shown = weft("extract", "evil.html", "--as-article").stdout
    assert "alert" in shown
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", shown)


def test_one_address_is_not_given_to_several_pages(weft: Weft, article: Path) -> None:
    done = weft("extract", article.name, article.name, "--url", URL)
    assert done.returncode == 1
    assert "--url" in done.stderr


def test_ctrl_c_ends_at_once(weft: Weft) -> None:
    with SiteServer(Site(pages=3, latency_s=60)) as server:
        process = weft.start("extract", server.url)
        wait_until(lambda: bool(server.hits()), description="the page is asked for")
        started_s = monotonic_s()
        process.send_signal(signal.SIGINT)
        _, problems = process.communicate(timeout=60)
    assert process.returncode == 130
    assert monotonic_s() - started_s < 5
    assert "Traceback" not in problems
