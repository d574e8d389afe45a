# ruff: noqa: RUF001 (Chinese punctuation is meant)
"""Authors: names of people, without all that pages write around them."""

import pytest

from weft.boards.reading.article.authors import find_authors
from weft.boards.reading.page import Page

TITLE = "Ferry returns after storm"


def authors(
    head: str = "", byline: str = "", url: str = "https://www.dailyharbour.example/a"
) -> list[str]:
    title = f"<title>{TITLE}</title>"
    body = f"<h1>{TITLE}</h1>{byline}<p>The ferry came back to the harbour.</p>"
    return find_authors(Page(f"<html><head>{title}{head}</head><body>{body}</body></html>", url))


def linked(value: str) -> str:
    script = f'{{"@type":"NewsArticle","headline":"{TITLE}","author":{value}}}'
    return f'<script type="application/ld+json">{script}</script>'


def chinese(text: str) -> list[str]:
    body = f"<h1>渡轮恢复通航</h1>{text}<p>{'渡轮今天回到了港口，许多人在岸边等候。' * 5}</p>"
    return find_authors(Page(f"<html><title>渡轮恢复通航</title><body>{body}</body></html>", ""))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('"Ann Lee"', ["Ann Lee"]),
        ('{"@type":"Person","name":"Ann Lee"}', ["Ann Lee"]),
        ('[{"name":"Ann Lee"},{"name":["Bo Chan"]}]', ["Ann Lee", "Bo Chan"]),
        ('{"name":"By Ann Lee and Bo Chan, senior editors"}', ["Ann Lee", "Bo Chan"]),
        ('["Ann Lee","ann lee"]', ["Ann Lee"]),
    ],
)
def test_json_ld_gives_names_in_any_form(value: str, expected: list[str]) -> None:
    assert authors(linked(value)) == expected


def test_reference_to_another_object_is_followed() -> None:
    person = (
        '<script type="application/ld+json">{"@type":"Person","@id":"#a","name":"Ann Lee"}</script>'
    )
    assert authors(linked('{"@id":"#a"}') + person) == ["Ann Lee"]


@pytest.mark.parametrize(
    "value", ["5", "null", "[[null, [7]]]", '{"name": 3}', '{"name": {"name": []}}', "true"]
)
def test_wrong_types_in_json_ld_are_ignored(value: str) -> None:
    assert authors(linked(value)) == []


def test_address_is_no_name() -> None:
    head = '<meta property="article:author" content="https://social.example/ann.lee">'
    assert authors(head) == []


def test_person_in_the_byline_wins_over_the_site_as_author() -> None:
    head = '<meta property="og:site_name" content="Daily Harbour">'
    head += '<meta name="author" content="Daily Harbour">'
    assert authors(head, "<p class='byline'>By Ann Lee</p>") == ["Ann Lee"]


def test_agency_is_given_if_no_person_is_named() -> None:
    assert authors(linked('{"@type":"Organization","name":"Coast News Agency"}')) == [
        "Coast News Agency"
    ]


@pytest.mark.parametrize("kind", ["Organization", "NewsMediaOrganization", "Thing", "WebSite"])
def test_author_that_json_ld_calls_no_person_loses_to_the_byline(kind: str) -> None:
    declared = linked(f'[{{"@type":["{kind}"],"name":"Video Library"}}]')
    assert authors(declared, "<p>By Ann Lee</p>") == ["Ann Lee"]
    assert authors(declared) == ["Video Library"]


def test_reference_to_an_organisation_is_no_person() -> None:
    publisher = '{"@type":"Organization","@id":"#o","name":"Coast Wire"}'
    head = linked('{"@id":"#o"}') + f'<script type="application/ld+json">{publisher}</script>'
    assert authors(head, "<p>By Ann Lee</p>") == ["Ann Lee"]


@pytest.mark.parametrize(
    "section",
    [
        '<meta property="article:section" content="Sea Life">',
        '<script type="application/ld+json">{"@type":"BreadcrumbList","itemListElement":'
        '[{"position":1,"item":{"name":"Sea Life"}}]}</script>',
        '<script type="application/ld+json">{"@type":"BreadcrumbList","itemListElement":'
        '[null,{"position":1,"name":"Sea Life"}]}</script>',
        "<nav><a href=/x>Sea  Life</a></nav>",
        "<div class=Breadcrumbs><a href=/x>Sea Life</a></div>",
        "<a rel='category tag' href=/x>Sea Life</a>",
        "<a href=/category/sea>Sea Life</a>",
    ],
)
def test_section_of_the_site_is_no_author(section: str) -> None:
    head = '<meta name="author" content="Sea Life">'
    assert authors(head, f"<p>By Ann Lee</p>{section}") == ["Ann Lee"]


def test_author_may_be_one_of_the_tags() -> None:
    head = '<meta property="article:tag" content="Ann Lee"><meta name=author content="Ann Lee">'
    assert authors(head) == ["Ann Lee"]


@pytest.mark.parametrize(
    ("byline", "expected"),
    [("한소미 기자", "한소미"), ("한소미기자", "한소미"), ("山田 太郎 記者", "山田 太郎")],
)
def test_title_of_a_reporter_behind_the_name_is_left_out(byline: str, expected: str) -> None:
    assert authors(byline=f"<span class=writer>{byline}</span>") == [expected]


@pytest.mark.parametrize(
    "byline",
    [
        "<p>By Ann Lee</p>",
        "<p>By</p><p>Ann Lee</p>",
        "<p>Words by Ann Lee, Harbour Correspondent</p>",
        "<a rel='author' href='/x'>Ann Lee</a>",
        "<span itemprop='author'><b itemprop='name'>Ann Lee</b></span>",
        "<div class='post-author'>Ann Lee | 1 May 2024 | 5 min read</div>",
        "<a href='/authors/ann-lee/'>Ann Lee</a>",
        "<p>Von Ann Lee</p>",
    ],
)
def test_byline_near_the_title_gives_the_name_alone(byline: str) -> None:
    assert authors(byline=byline) == ["Ann Lee"]


def test_scientific_tags_put_the_family_name_first() -> None:
    head = '<meta name="citation_author" content="Lee, Ann">'
    head += '<meta name="citation_author" content="Chan, Bo">'
    assert authors(head) == ["Ann Lee", "Bo Chan"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<p>作者：张小海 来源：海港网</p>", ["张小海"]),
        ("<p>来源：海港网 记者：王一 李小二</p>", ["王一", "李小二"]),
        ("<p>文｜陈海生</p>", ["陈海生"]),
        ("<p>海港社电（记者 赵明）渡轮回来了。</p>", ["赵明"]),
        ("<p>渡轮回来了。（周海 林生）</p>", ["周海", "林生"]),
        ("<p>渡轮回来了。</p><p>责任编辑：孙海</p>", ["孙海"]),
        ("<p>记者近日从港口了解到，渡轮回来了。</p>", []),
        ("<p>作者：佚名</p>", []),
    ],
)
def test_chinese_pages_name_authors_in_their_text(text: str, expected: list[str]) -> None:
    assert chinese(text) == expected


def test_broken_pages_have_no_author() -> None:
    assert find_authors(Page("", "")) == []
    assert find_authors(Page("\x00\ufffd<a rel=author><h1>\x01", "http://[")) == []
