"""What pages announce about themselves, in the many ways to write it."""

import pytest

from weft.boards.reading.announced import Announced, find_announced
from weft.boards.reading.page import Page

URL = "https://harbour.example/news/ferry?from=home"


def announced(head: str) -> Announced:
    return find_announced(Page(f"<html><head>{head}</head></html>", URL))


def test_feeds_of_all_types_are_found_and_other_alternates_are_not() -> None:
    head = """
    <link rel="alternate" type="application/rss+xml" href="/feed.xml">
    <link REL="Alternate home" type="Application/Feed+JSON; charset=utf-8" href="feed.json">
    <link rel="alternate" type="application/rss+xml" href="/feed.xml">
    <link rel="alternate" type="application/rss+xml" href="">
    <link rel="alternate" hreflang="fr" href="/fr/news/ferry">
    """
    assert announced(head).feeds == (
        "https://harbour.example/feed.xml",
        "https://harbour.example/news/feed.json",
    )


@pytest.mark.parametrize(
    "head",
    [
        '<link rel="canonical" href="/news/ferry">',
        '<link rel="shortlink Canonical" href=" ferry#top ">',
        '<link rel="canonical" href=""><link rel="canonical" href="/news/ferry">',
        '<meta property="og:url" content="https://harbour.example/news/ferry">',
        '<meta property="og:url" content="/other"><link rel="canonical" href="/news/ferry">',
    ],
)
def test_canonical_address_is_made_absolute(head: str) -> None:
    assert announced(head).canonical_url == "https://harbour.example/news/ferry"


@pytest.mark.parametrize("href", ["", " ", "http://[", "javascript:go()"])
def test_what_is_no_address_is_not_announced(href: str) -> None:
    assert announced(f'<link rel="canonical" href="{href}">') == Announced("", ())
