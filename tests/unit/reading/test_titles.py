# ruff: noqa: RUF001 (signs of other scripts are meant)
"""Titles: many sources that disagree, and names of sites on them."""

import pytest

from weft.boards.reading.article.titles import find_title
from weft.boards.reading.page import Page

URL = "https://www.dailyharbour.example/news/1"


def page(head: str, body: str = "", url: str = URL) -> Page:
    return Page(f"<html><head>{head}</head><body>{body}</body></html>", url)


@pytest.mark.parametrize("separator", [" | ", " - ", " – ", " — ", " · ", " :: ", " » "])
def test_site_name_is_removed_after_any_separator(separator: str) -> None:
    head = f"<title>Ferry returns after storm{separator}Daily Harbour</title>"
    assert find_title(page(head)) == "Ferry returns after storm"


def test_section_between_title_and_site_is_removed() -> None:
    head = "<title>Ferry returns to port after the storm - Local - Daily Harbour</title>"
    assert find_title(page(head)) == "Ferry returns to port after the storm"


def test_chinese_title_loses_its_column_and_site() -> None:
    head = "<title>渡轮在风暴后恢复通航_本地新闻_海港网</title>"
    assert find_title(page(head, url="https://www.haigang.example/1")) == "渡轮在风暴后恢复通航"


@pytest.mark.parametrize(
    ("tag", "shown", "title"),
    [
        ("渡轮在风暴后恢复通航 - 海港报", "渡轮在风暴后恢复通航", "渡轮在风暴后恢复通航"),
        ("渡轮 - 风暴后恢复通航的第一天", "渡轮", "渡轮 - 风暴后恢复通航的第一天"),
    ],
)
def test_what_stands_behind_a_title_goes_if_the_page_shows_it_without(
    tag: str, shown: str, title: str
) -> None:
    text = "<p>渡轮在风暴之后恢复了通航，公司星期二说。</p>"
    assert find_title(page(f"<title>{tag}</title>", f"<div>{shown}</div>{text}")) == title


def test_site_name_before_the_title_is_removed() -> None:
    head = "<title>Daily Harbour: Ferry returns after storm</title>"
    site = '<meta property="og:site_name" content="Daily Harbour">'
    assert find_title(page(head + site)) == "Ferry returns after storm"


def test_hyphen_of_the_title_itself_stays_if_the_heading_has_it() -> None:
    text = "Harbour v Lighthouse - a rivalry"
    assert find_title(page(f"<title>{text} - Daily Harbour</title>", f"<h1>{text}</h1>")) == text


def test_heading_with_the_name_of_the_site_is_no_title() -> None:
    head = "<title>Ferry returns - The Long Wave</title>"
    assert find_title(page(head, "<h1>The Long Wave</h1>")) == "Ferry returns"


def test_heading_of_a_login_form_is_no_title() -> None:
    head = "<title>Ferry returns after storm | Daily Harbour</title>"
    body = "<h1>Log in</h1><h1>Ferry returns after storm</h1>"
    assert find_title(page(head, body)) == "Ferry returns after storm"


def test_heading_wins_over_a_shortened_social_title() -> None:
    head = (
        '<meta property="og:title" content="Ferry returns">'
        "<title>Ferry returns after storm of the century | Daily Harbour</title>"
    )
    body = "<h1>Ferry returns after storm of the century</h1>"
    assert find_title(page(head, body)) == "Ferry returns after storm of the century"


def test_all_tags_together_win_over_another_heading() -> None:
    text = "Ferry returns after the storm"
    head = (
        f'<meta property="og:title" content="{text}"><title>{text}</title>'
        f'<script type="application/ld+json">{{"@type":"NewsArticle","headline":"{text}"}}</script>'
    )
    assert find_title(page(head, "<h1>After the storm: a return</h1>")) == text


def test_quotation_marks_are_no_separators() -> None:
    text = "Le maire parle d'une « catastrophe » au port"
    assert find_title(page(f"<title>{text}</title>", f"<h1>{text}</h1>")) == text


def test_placeholder_of_a_template_is_no_title() -> None:
    head = "<title>Ferry returns after storm</title>"
    assert find_title(page(head, "<h1>{{ item.title }}</h1>")) == "Ferry returns after storm"


def test_button_in_a_heading_is_not_read() -> None:
    body = "<h1>Module ferry <button>Copy path</button></h1>"
    assert find_title(page("<title>Module ferry</title>", body)) == "Module ferry"


@pytest.mark.parametrize("headline", ["5", "null", "[[null, 3]]", '{"name": {"name": 1}}', '[""]'])
def test_wrong_types_in_json_ld_are_ignored(headline: str) -> None:
    script = f'{{"@type": ["Article", 5], "headline": {headline}}}'
    head = f'<title>Ferry</title><script type="application/ld+json">{script}</script>'
    assert find_title(page(head)) == "Ferry"


OLD = "<title>The Long Wave: Ferry returns after storm</title>"


@pytest.mark.parametrize(
    "body",
    [
        "<td><b>The Long Wave</b></td><td>Home</td><td><font>Ferry returns after storm</font></td>",
        "<h1>The Long Wave</h1><td>Home</td><div class=hl>Ferry returns\xa0after storm</div>",
    ],
    ids=["big letters", "site in the heading"],
)
def test_site_before_a_colon_is_removed_if_the_page_shows_both_apart(body: str) -> None:
    assert find_title(page(OLD, body)) == "Ferry returns after storm"


@pytest.mark.parametrize(
    "body",
    [
        "<div>The Long Wave</div><div>Ferry returns after storm</div>",
        "<h2>The Long Wave: Ferry returns after storm</h2><i>The Long Wave</i><p>Home</p>"
        "<i>Ferry returns after storm</i>",
        "<div>Ferry returns after storm</div>",
        "<h1>The Long Wave <b>Ferry returns after storm</b></h1><i>The Long Wave</i>",
    ],
    ids=["second line", "whole shown", "no site", "in a heading"],
)
def test_what_stands_before_a_colon_may_be_of_the_title(body: str) -> None:
    assert "The Long Wave" in find_title(page(OLD, body))


PROSE = f"<p>{'The ferry came back to the harbour in the morning. ' * 3}</p>"
SHOWN = "Ferry returns after storm"
BESIDE = [
    pytest.param(f"<div>{SHOWN}</div><div>Posted: 1 May 2024 12:30</div>{PROSE}", id="above"),
    pytest.param(f"<p>Harbour, 1 May 2024</p><h2>{SHOWN}</h2>{PROSE}", id="below"),
]


@pytest.mark.parametrize("body", BESIDE)
@pytest.mark.parametrize("head", ["<title>Press notes - Coast</title>", "<title>Coast</title>", ""])
def test_line_beside_the_day_is_the_title_if_tags_only_name_the_site(head: str, body: str) -> None:
    menu = "<div>1 May 2025</div><a href=/>Coast news</a><p>> Press notes</p>"
    assert find_title(page(head, menu + body)) == SHOWN


@pytest.mark.parametrize(
    "body",
    [
        f"<div>Press notes</div>{BESIDE[0].values[0]}",
        f"<h1>Press notes</h1>{BESIDE[0].values[0]}",
        f"<div><a href=/1>{SHOWN}</a></div><p>1 May 2024</p>{PROSE}",
        f"<div>{SHOWN}</div><p>1 May 2024</p><div>Boats lie still</div><p>2 May 2024</p>{PROSE}",
        f"<div>First day of release:</div><div>1 May 2024</div>{PROSE}",
        f"<div>{SHOWN}</div><div>1 May 2024</div><p>Share</p>",
        f"<p>1 May 2024</p><div>{SHOWN}</div>{PROSE}",
        f"<div>Storm in the press: notes</div><div>1 May 2024</div>{PROSE}",
    ],
    ids=["title shown", "heading", "link", "list", "label", "no prose", "text", "alike"],
)
def test_title_tag_stays_if_the_line_beside_the_day_may_be_anything(body: str) -> None:
    assert find_title(page("<title>Press notes | Daily Harbour</title>", body)) == "Press notes"


def test_page_without_any_title_has_an_empty_one() -> None:
    assert find_title(Page("", "")) == ""
    assert find_title(Page("\x00\xff\ufffd<<<>>|||", "http://[broken")) == ""
