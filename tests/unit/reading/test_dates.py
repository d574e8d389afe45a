# ruff: noqa: RUF001 (signs of other scripts are meant)
"""Dates: metadata first, then what stands near the title."""

from datetime import date

import pytest

from weft.boards.reading.article.dates import find_dates
from weft.boards.reading.article.datetext import read_date
from weft.boards.reading.page import Page

TODAY = date(2025, 6, 1)
TITLE = "Ferry returns after storm"


def published(
    body: str, head: str = "", url: str = "https://harbour.example/a", lang: str = ""
) -> str:
    html = f'<html lang="{lang}"><head>{head}</head><body>{body}</body></html>'
    return find_dates(Page(html, url), TITLE, TODAY).published


def near_title(text: str, lang: str = "") -> str:
    return published(f"<h1>{TITLE}</h1><p>{text}</p><p>The ferry came back.</p>", lang=lang)


def linked(value: str) -> str:
    return f'<script type="application/ld+json">{{"@type":"NewsArticle",{value}}}</script>'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024年5月1日 12:30", "2024-05-01T12:30:00"),
        ("发布时间：2024-05-01 08:05:09", "2024-05-01T08:05:09"),
        ("2024-05-01", "2024-05-01"),
        ("May 1, 2024 at 3:05 PM EDT", "2024-05-01T15:05:00-04:00"),
        ("1 May 2024", "2024-05-01"),
        ("Sept. 5th, 2023", "2023-09-05"),
        ("1. Mai 2024, 14:30 Uhr", "2024-05-01T14:30:00"),
        ("1 de mayo de 2024", "2024-05-01"),
        ("1er mai 2024", "2024-05-01"),
        ("12:30, 1 мая 2024", "2024-05-01T12:30:00"),
        ("13.03.2024 10:57", "2024-03-13T10:57:00"),
        ("2024. május 1. 12:30", "2024-05-01T12:30:00"),
        ("2024년 5월 1일 오후 3:20", "2024-05-01T15:20:00"),
        ("1 พฤษภาคม 2567", "2024-05-01"),
        ("ngày 3 tháng 5 năm 2024", "2024-05-03"),
    ],
)
def test_date_near_the_title_is_read_in_many_languages(text: str, expected: str) -> None:
    assert near_title(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("来源：海港网 2004-11-02 作者：张三", "2004-11-02"),
        ("时间：2004/11/2 8:05:09", "2004-11-02T08:05:09"),
        ("（2004年11月02日 08时05分）", "2004-11-02T08:05:00"),
        ("2004年11月2日 星期二 下午3:20", "2004-11-02T15:20:00"),
        ("日期：2004.11.02 点击：2005次 [字体：大 中 小]", "2004-11-02"),
        ("2004年11月2日08:05:09+08:00", "2004-11-02T08:05:09+08:00"),
        ("２００５年３月７日　１０：２１", "2005-03-07T10:21:00"),
        ("二〇〇五年三月二十七日", "2005-03-27"),
        ("二零零五年十二月卅一日", "2005-12-31"),
        ("民國94年3月7日", "2005-03-07"),
        ("中華民國 94/03/07", "2005-03-07"),
        ("平成十七年三月七日", "2005-03-07"),
        ("令和6年5月1日(水) 12:30", "2024-05-01T12:30:00"),
        ("海港网 05-03-07 10:21", "2005-03-07T10:21:00"),
        ("99/12/31", "1999-12-31"),
    ],
)
def test_chinese_and_japanese_ways_to_write_a_date(text: str, expected: str) -> None:
    assert published(f"<h1>{TITLE}</h1><p>{text}</p><p>渡轮回来了。</p>") == expected


RETURN = "<p>渡轮今天回到了港口，许多人在岸边等候，掌声不断。市政府表示道路将在三天内修复。</p>"


@pytest.mark.parametrize(
    "body",
    [
        f"<div>今天是：2025年5月31日</div><h1>{TITLE}</h1>{RETURN * 3}<p>2004年11月2日</p>",
        f"<div>2025年5月31日 星期六</div><h1>{TITLE}</h1><div>海港网 2004-11-02</div>{RETURN}",
        f"<h1>{TITLE}</h1><div>今天是2025年5月31日</div>{RETURN}<div>发布时间：2004-11-02</div>",
        f"<table><tr><td>首页 > 新闻 > 2004-11-02</td></tr></table><h1>{TITLE}</h1>{RETURN * 9}",
        f"<table><tr><td><b>{TITLE}</b><tr><td>海港网 2004年11月2日<tr><td>{RETURN}</table>",
        f"<h1>{TITLE}</h1>{RETURN * 40}<p>海港市政府</p><p>二〇〇四年十一月二日</p>",
        f"<h1>{TITLE}</h1><p>2003年5月1日，渡轮沉没。</p>{RETURN}<p>2004年11月2日</p><p>打印</p>",
        f"<h1>{TITLE}</h1>{RETURN * 40}<p>（海港日报 2004年11月2日 08:05）</p>",
        f"<h1>{TITLE}</h1>{RETURN}<p>2004-11-02</p><p>版权所有 2005年1月1日</p>",
    ],
    ids=["today", "weekday", "today-after", "position", "table", "signature", "sentence", "source",
         "rights"],
)  # fmt: skip
def test_day_of_a_chinese_article_is_told_from_other_days(body: str) -> None:
    assert published(body)[:10] == "2004-11-02"


@pytest.mark.parametrize(
    "body",
    [
        f"<div>2025年5月31日 星期六</div><h1>{TITLE}</h1>{RETURN}",
        f"<h1>{TITLE}</h1><p>2003年5月1日，渡轮在港口沉没。</p>{RETURN}",
        f"<h1>{TITLE}</h1>{RETURN * 40}<p>新船</p><p>2003-04-01</p><p>开放</p><p>2003-05-01</p>",
        f"<h1>{TITLE}</h1>{RETURN}<p>版权所有 2005年1月1日</p>",
    ],
    ids=["weekday", "sentence", "list", "rights"],
)
def test_chinese_page_may_have_no_day(body: str) -> None:
    assert published(body) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3 hours ago", "2025-06-01"),
        ("Ann Lee · 2 days ago", "2025-05-30"),
        ("Yesterday at 3:20 PM", "2025-05-31"),
        ("3小时前", "2025-06-01"),
        ("2天前", "2025-05-30"),
        ("a week ago", "2025-05-25"),
        ("It was long ago", ""),
    ],
)
def test_distance_from_today_counts_if_there_is_no_date(text: str, expected: str) -> None:
    assert near_title(text) == expected
    assert find_dates(Page(f"<h1>{TITLE}</h1><p>{text}</p>", ""), TITLE).published == ""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2024-05-01T12:30:00.123Z", "2024-05-01T12:30:00+00:00"),
        ("2024-05-01T12:30+0800", "2024-05-01T12:30:00+08:00"),
        ("Wed, 01 May 2024 12:30:00 GMT", "2024-05-01T12:30:00+00:00"),
        ("20240501", "2024-05-01"),
        ("1714567890", "2024-05-01T12:51:30+00:00"),
        ("1714567890000", "2024-05-01T12:51:30+00:00"),
    ],
)
def test_tags_give_dates_as_machines_write_them(value: str, expected: str) -> None:
    assert published("", f'<meta property="article:published_time" content="{value}">') == expected


@pytest.mark.parametrize(
    "text", ["3 hours ago", "0000-00-00", "2024-13-45", "99999999999", "", "1987-05-01"]
)
def test_what_is_no_possible_date_is_not_read(text: str) -> None:
    assert read_date(text) is None


def test_json_ld_is_trusted_more_than_meta_tags_and_text() -> None:
    head = linked('"datePublished":"2024-05-01T12:30:00+08:00","dateModified":"2024-05-02"')
    head += '<meta name="date" content="2020-01-01">'
    html = f"<html><head>{head}</head><body><h1>{TITLE}</h1>3 May 2019</body></html>"
    dates = find_dates(Page(html, ""), TITLE, TODAY)
    assert (dates.published, dates.modified) == ("2024-05-01T12:30:00+08:00", "2024-05-02")


def test_meta_tag_with_an_invented_name_is_read() -> None:
    assert published("", '<meta name="x-published-date" content="2024-05-01">') == "2024-05-01"


def test_date_of_today_in_the_header_is_not_that_of_the_article() -> None:
    body = f"<div>2025-05-31</div><h1>{TITLE}</h1><p>2024-05-01 12:30</p>"
    assert published(body) == "2024-05-01T12:30:00"


def test_date_in_a_sentence_is_not_that_of_the_article() -> None:
    body = (
        f"<h1>{TITLE}</h1><p>{'Waves were high and people waited. ' * 9} On 3 May 2019 it sank.</p>"
    )
    assert published(body) == ""


def test_label_far_from_the_title_is_found() -> None:
    body = (
        f"<h1>{TITLE}</h1><p>{'The ferry came back. ' * 200}</p><div>发表于 2005-07-31 12:30</div>"
    )
    assert published(body) == "2005-07-31T12:30:00"


def test_date_of_an_update_is_not_that_of_publication() -> None:
    body = f"<h1>{TITLE}</h1><p>Updated: May 9, 2024</p><p>May 1, 2024</p>"
    dates = find_dates(Page(body, ""), TITLE, TODAY)
    assert (dates.published, dates.modified) == ("2024-05-01", "2024-05-09")


def test_time_element_gives_the_zone_that_the_text_hides() -> None:
    body = f'<h1>{TITLE}</h1><time datetime="2024-05-01T12:30:00+02:00">yesterday</time>'
    assert published(body) == "2024-05-01T12:30:00+02:00"


def test_order_of_day_and_month_follows_the_language() -> None:
    assert near_title("05/06/2024", lang="en-US") == "2024-05-06"
    assert near_title("05/06/2024", lang="fr") == "2024-06-05"
    assert near_title("25/06/2024", lang="en-US") == "2024-06-25"


def test_url_gives_the_day_if_nothing_else_does() -> None:
    assert published("", url="https://harbour.example/2024/05/01/ferry") == "2024-05-01"


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ("1 May 2024, 17:05", "2024-05-01T17:05:00"),
        ("1 May 2024, 5:05 pm EDT", "2024-05-01T17:05:00-04:00"),
        ("2 May 2024, 17:05", "2024-05-01"),
        ("Updated: 1 May 2024, 17:05", "2024-05-01"),
        ("1 May 2024 <p>Bo wrote on 1 May 2024 at 18:00</p>", "2024-05-01"),
        ("", "2024-05-01"),
    ],
    ids=["time", "zone", "other-day", "update", "comment", "nothing"],
)
def test_time_shown_beside_the_same_day_completes_it(shown: str, expected: str) -> None:
    body = f"<h1>{TITLE}</h1><p>{shown}</p><p>The ferry came back.</p>"
    assert published(body, url="https://harbour.example/2024/05/01/ferry") == expected
    assert published(body, '<meta name="date" content="2024-05-01">') == expected


def test_time_that_the_metadata_gives_stays() -> None:
    head = '<meta name="date" content="2024-05-01T12:30:00Z">'
    assert published(f"<h1>{TITLE}</h1>1 May 2024, 17:05", head) == "2024-05-01T12:30:00+00:00"


def test_day_behind_the_author_in_the_same_line_is_found() -> None:
    assert near_title("<i>Written by Ann Lee, 9 February 2002</i>") == "2002-02-09"


def test_date_in_the_future_is_rejected_but_tomorrow_is_not() -> None:
    assert published("", linked('"datePublished":"2025-06-02"')) == "2025-06-02"
    assert published("", linked('"datePublished":"2025-06-03"')) == ""


@pytest.mark.parametrize(
    "value", ["5", "null", "[[null]]", '{"a": []}', "true", "1e999", '"\\u0000"']
)
def test_wrong_types_in_json_ld_are_ignored(value: str) -> None:
    assert published("", linked(f'"datePublished":{value}')) == ""


def test_broken_pages_have_no_date() -> None:
    assert find_dates(Page("", ""), "").published == ""
    assert find_dates(Page("\x00\x01\ufffd<h1><time datetime>", "::"), "\x00").published == ""
