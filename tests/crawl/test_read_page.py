"""`weft.read_page(response)` and `ArticleItem` in the callbacks of a spider."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from crawling import crawl
from scrapy import Spider
from scrapy.http import HtmlResponse, Response

import weft
from weft.boards.reading.provenance import Provenance
from weft.demo import news
from weft.engine.pages import read_response
from weft.errors import PageError
from weft.markup import PageLimits
from weft.testing import Site, SiteServer


class Reader(Spider):
    """Finds the articles of a list by itself."""

    name = "reader"

    def parse(self, response: Response) -> Iterator[Any]:
        page = weft.read_page(response)
        if page.article:
            yield weft.ArticleItem.of(page)
        for link in page.links:
            yield response.follow(link.url, self.parse)
        for url in page.next[:1]:
            yield response.follow(url, self.parse)


def test_a_spider_without_rules_gets_all_articles_of_a_list(tmp_path: Path) -> None:
    wanted = {article.title: article for article in news.articles("science")}
    with SiteServer(Site(theme="demo")) as server:
        done = crawl(tmp_path, Reader, start_urls=[server.url + "news/science/"])
    stored = {item["title"]: item for item in done.stored()}
    assert stored.keys() == wanted.keys()
    for title, article in wanted.items():
        assert stored[title]["authors"] == [article.author]
        assert stored[title]["published"] == article.published.isoformat()
        assert stored[title]["body"].split("\n") == article.paragraphs
    assert len(done.items) == len(wanted)


def test_the_charset_of_the_header_counts() -> None:
    page = HtmlResponse(
        "https://example.org/",
        body="<h1>Ольга Берггольц</h1>".encode("cp1251"),
        headers={"Content-Type": "text/html; charset=windows-1251"},
    )
    assert weft.read_page(page).encoding == "cp1251"


def test_a_page_that_exceeds_a_limit_is_told() -> None:
    page = HtmlResponse("https://example.org/", body=b"<div>" * 100_000)
    with pytest.raises(PageError, match=r"more open tags than 2,000$"):
        weft.read_page(page)


class Impatient(Spider):
    """Tells why it cannot read its pages."""

    name = "impatient"

    def parse(self, response: Response) -> Iterator[Any]:
        for options in (weft.ReadOptions(), weft.ReadOptions(seconds=60, limits=PageLimits())):
            try:
                yield {"told": weft.read_page(response, options).encoding}
            except PageError as problem:
                yield {"told": str(problem)}


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ({"WEFT_MAX_PAGE_BYTES": 100}, "not parsed: more bytes than 100 (WEFT_MAX_PAGE_BYTES)"),
        (
            {"WEFT_MAX_PAGE_SECONDS": "0.00001"},
            "not read: it took longer than 1e-05 s (WEFT_MAX_PAGE_SECONDS)",
        ),
        ({"WEFT_MAX_PAGE_SECONDS": 0}, "utf-8"),
    ],
)
def test_a_crawl_has_limits_of_its_own_unless_the_options_have_others(
    tmp_path: Path, setting: dict[str, Any], told: str
) -> None:
    with SiteServer(Site(theme="demo")) as server:
        done = crawl(tmp_path, Impatient, setting, start_urls=[server.url + "news/science/"])
    assert [item["told"] for item in done.items] == [told, "utf-8"]


def test_how_a_crawl_came_to_a_page_counts() -> None:
    body = b"<title>A</title><h1>A</h1><ul>" + b"<li><a href=/x>one more of these</a>" * 20
    page = HtmlResponse("https://example.org/", body=body)
    plain = weft.read_page(page).judgement.article.score
    followed = read_response(page, Provenance(is_followed=True)).judgement.article.score
    assert followed < plain


def test_an_item_of_a_page_without_an_article_has_its_url_and_title() -> None:
    page = HtmlResponse("https://example.org/", body=b"<title>Nothing here</title>")
    item = weft.ArticleItem.of(weft.read_page(page))
    assert (item.url, item.title, item.body) == ("https://example.org/", "Nothing here", "")
