"""URLs lose what says nothing about the page, and nothing else."""

import time

import pytest

from weft.boards.tracking import clean_url

SESSION = "0123456789abcdef0123456789ABCDEF"


@pytest.mark.parametrize(
    ("url", "cleaned"),
    [
        ("https://x.example/a?utm_source=rss&id=3&utm_medium=mail", "https://x.example/a?id=3"),
        ("https://x.example/a?fbclid=1", "https://x.example/a"),
        ("https://x.example/?b=2&spm=1.2&a=1&gclid=x", "https://x.example/?b=2&a=1"),
        ("https://x.example/a?UTM_Source=rss&ID=3", "https://x.example/a?ID=3"),
        ("https://x.example/a?id=3&amp;utm_source=rss", "https://x.example/a?id=3"),
        ("https://x.example/a?from_source=home&vd_source=1&p=2", "https://x.example/a?p=2"),
        ("https://x.example/a?from=timeline&isappinstalled=0", "https://x.example/a"),
        ("https://x.example/a#top", "https://x.example/a"),
        ("https://x.example/a?id=3#utm_source=1", "https://x.example/a?id=3"),
        ("https://x.example/a?PHPSESSID=abc&id=3", "https://x.example/a?id=3"),
        ("https://x.example/a?ASPSESSIONIDQQBC=abc&id=3", "https://x.example/a?id=3"),
        ("https://x.example/a;jsessionid=0A!1?id=3", "https://x.example/a?id=3"),
        ("https://x.example/a;JSESSIONID=0A/b;v=1", "https://x.example/a/b;v=1"),
        (f"https://x.example/a?sid={SESSION}&id=3", "https://x.example/a?id=3"),
        (f"https://x.example/a?session_id={SESSION}", "https://x.example/a"),
        ("https://x.example/(S(lit3py55t21z5v55))/a.aspx", "https://x.example/a.aspx"),
    ],
)
def test_what_says_nothing_is_removed(url: str, cleaned: str) -> None:
    assert clean_url(url) == cleaned
    assert clean_url(cleaned) == cleaned


@pytest.mark.parametrize(
    "url",
    [
        "https://x.example/",
        "https://x.example/utm_source=1/a",
        "https://x.example/a?",
        "https://x.example/a?b",
        "https://x.example/a?z=1&a=%e4%BD&&c&=d&a=2",
        "https://x.example/a?sid=12&s=ferry&session_id=12&from=EUR&for=children",
        "https://x.example/a?cmpid=12&myutm_source=1",
        "https://x.example/a;v=1/b?x=1;y=2",
        "https://x.example/wiki/Ferry_(boat)?a=(S(1))/",
        "not a url",
        "",
    ],
)
def test_all_else_stays_byte_for_byte(url: str) -> None:
    assert clean_url(url) == url


def test_a_board_can_name_more_parameters() -> None:
    url = "https://x.example/a?from_section=1&x_a=1&x_b_z=2&id=3"
    assert clean_url(url, ("from_section", "x_*z")) == "https://x.example/a?x_a=1&id=3"
    assert clean_url(url, ("X_*",)) == "https://x.example/a?from_section=1&id=3"
    assert clean_url(url, ("from",)) == url
    # A dot is a dot, and no other character.
    assert clean_url("https://x.example/?a.b=1&axb=2", ("a.b",)) == "https://x.example/?axb=2"


def test_names_that_are_made_to_take_long_do_not() -> None:
    started = time.process_time()
    url = f"https://x.example/?{'a' * 60}=1"
    assert clean_url(url, ("*a" * 25 + "*b",)) == url
    assert clean_url("https://x.example/?" + "&" * 100_000).endswith("&")
    assert time.process_time() - started < 1
