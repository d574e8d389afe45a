"""A crawl stays out of spaces without end, and loses no list that goes on to bring articles."""

import pytest

from weft.boards.traps import (
    EMPTY_PAGES,
    FAR_LISTS,
    FAR_PAGES,
    KNOWN_PAGES,
    MAX_NEW_REASONS,
    MAX_SHAPES,
    TOPICS,
    WIDE,
    Traps,
    trap_in_url,
)
from weft.testing import FakeClock

SITE = "https://x.example"
#: The 15th of November 2026.
NOW_MS = 1_794_700_800_000


@pytest.fixture
def traps() -> Traps:
    return Traps(FakeClock(NOW_MS))


def visit(traps: Traps, url: str, *, new: int = 0, has_topics: bool = False) -> None:
    traps.note_visit(url, new_articles=new, has_topics=has_topics)


def pages_until_shut(traps: Traps, urls: list[str], *, has_topics: bool = False) -> int:
    """How many of these pages, which bring nothing, are visited."""
    for number, url in enumerate(urls):
        if traps.reason_against(url):
            return number
        visit(traps, url, has_topics=has_topics)
    return len(urls)


def months(years: range, pattern: str) -> list[str]:
    return [SITE + pattern.format(year, month) for year in years for month in range(1, 13)]


@pytest.mark.parametrize(
    "path",
    [
        "/a/b/a/b/a/b",
        "/deeper/deeper/deeper/",
        "/news/a/news/b/news/c/news",
        "/" + "/".join(f"p{number}" for number in range(21)),
        "/list?a=1&b=2&a=1&a=1",
        "/list?" + "&".join(f"f{number}=1" for number in range(26)),
        "/list?" + "&".join(f"f[]={number}" for number in range(11)),
        "/login?next=%252525252Flogin",
    ],
)
def test_an_address_that_grows_or_repeats_itself_is_a_trap(path: str) -> None:
    assert trap_in_url(SITE + path)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/2011/11/11/11/",
        "/sell/0/0/0/0/1.html",
        "/files/a/a/a/b.html",
        "/news/2026/news/ferry.html",
        "/en/docs/api/en/v1/",
        "/archive/page/5000/",
        "/list?f[]=1&f[]=2&f[]=3&page=7",
        "/list?&&&",
        "/100%25",
    ],
)
def test_usual_addresses_are_none(path: str) -> None:
    assert trap_in_url(SITE + path) == ""


@pytest.mark.parametrize("pattern", ["/calendar/{}/{:02}/", "/?month={}-{:02}", "/c/{}{:02}"])
def test_a_calendar_without_end_stops_after_a_dozen_months(traps: Traps, pattern: str) -> None:
    assert pages_until_shut(traps, months(range(2027, 2100), pattern)) == FAR_PAGES


def test_a_calendar_beside_a_list_of_known_articles_stops_after_some_dozen(traps: Traps) -> None:
    urls = months(range(2027, 2100), "/calendar/{}/{:02}/")
    assert pages_until_shut(traps, urls, has_topics=True) == FAR_LISTS


def test_months_to_come_do_not_hide_behind_those_with_articles(traps: Traps) -> None:
    past = months(range(2008, 2026), "/calendar/{}/{:02}/")
    coming = iter(months(range(2027, 2100), "/calendar/{}/{:02}/"))
    visited = 0
    for url in past:
        visit(traps, url, new=3, has_topics=True)
        if not traps.reason_against(following := next(coming)):
            visit(traps, following)
            visited += 1
    assert visited == FAR_PAGES
    assert traps.reason_against(SITE + "/calendar/2007/12/") == ""


def test_a_list_that_brings_new_articles_goes_on_for_ever(traps: Traps) -> None:
    for number in range(5_000):
        url = f"{SITE}/archive/page/{number}/"
        assert traps.reason_against(url) == ""
        visit(traps, url, new=20, has_topics=True)


def test_pages_without_a_list_are_left_out_after_some(traps: Traps) -> None:
    assert pages_until_shut(traps, [f"{SITE}/user/{n}" for n in range(500)]) == EMPTY_PAGES


def test_lists_of_known_articles_have_more_patience(traps: Traps) -> None:
    urls = [f"{SITE}/shop?color={n}" for n in range(500)]
    assert pages_until_shut(traps, urls, has_topics=True) == KNOWN_PAGES


def test_a_new_article_lets_pages_of_its_shape_in_again(traps: Traps) -> None:
    urls = [f"{SITE}/tag/t{n}/" for n in range(100)]
    assert pages_until_shut(traps, urls) < len(urls)
    traps.note_visit(urls[0], new_articles=1, has_topics=True, is_again=True)
    assert traps.reason_against(urls[-1]) == ""


def test_pages_that_are_visited_again_bring_nothing_most_of_the_time(traps: Traps) -> None:
    for number in range(10 * EMPTY_PAGES):
        url = f"{SITE}/tag/{number}/"
        traps.note_visit(url, new_articles=0, has_topics=False, is_again=True)
    assert traps.reason_against(f"{SITE}/tag/7/") == ""


def test_sections_do_not_pay_for_tags(traps: Traps) -> None:
    pages_until_shut(
        traps, [f"{SITE}/tag/{'abcdefghij'[n % 10]}{'x' * (n // 10)}" for n in range(50)]
    )
    assert traps.reason_against(f"{SITE}/tag/ferry")
    assert traps.reason_against(f"{SITE}/section/ferry") == ""
    assert traps.reason_against("https://other.example/tag/ferry") == ""


def test_paths_of_ever_new_words_end_too(traps: Traps) -> None:
    words = ["".join(chr(97 + int(digit)) for digit in str(n)) for n in range(1_000)]
    urls = [f"{SITE}/{word}/red/large" for word in words]
    assert pages_until_shut(traps, urls) == EMPTY_PAGES * WIDE


def test_filters_of_ever_new_names_end_too(traps: Traps) -> None:
    urls = [f"{SITE}/shop?f{n}=1&g{n}=1" for n in range(1_000)]
    assert pages_until_shut(traps, urls) == EMPTY_PAGES * WIDE
    deep = [f"{SITE}/find?a=1&b=1&c{n}=1&d=1" for n in range(1_000)]
    assert pages_until_shut(Traps(FakeClock(NOW_MS)), deep) == EMPTY_PAGES


def test_hosts_without_end_are_one_site(traps: Traps) -> None:
    urls = [f"https://h{n}.x.example/" for n in range(1_000)]
    assert pages_until_shut(traps, urls) == EMPTY_PAGES * WIDE


def test_topic_links_have_more_patience(traps: Traps) -> None:
    def url(number: int) -> str:
        return f"{SITE}/day/{number}"

    for number in range(EMPTY_PAGES * TOPICS - 1):
        visit(traps, url(number))
    assert traps.reason_against(url(1_000))
    assert traps.reason_against(url(1_000), is_topic=True) == ""
    visit(traps, url(999))
    visit(traps, url(998))
    assert traps.reason_against(url(1_000), is_topic=True)


def test_a_reason_is_told_once_in_plain_words(traps: Traps) -> None:
    pages_until_shut(traps, [f"{SITE}/user/{n}" for n in range(40)])
    reason = f"{EMPTY_PAGES} pages in a row such as {SITE}/user/29 brought nothing new"
    assert traps.take_new_reasons() == {reason: f"{SITE}/user/30"}
    assert traps.reason_against(f"{SITE}/user/31") == reason
    assert traps.take_new_reasons() == {}


def test_what_is_kept_is_bounded(traps: Traps) -> None:
    for number in range(3 * MAX_SHAPES):
        visit(traps, f"https://x.example/{'a' * (number % 20)}/w{number}/b{number}?n{number}")
    for number in range(100):
        pages_until_shut(traps, [f"https://s{number}.example/user/{n}" for n in range(40)])
    assert len(traps._streaks) <= MAX_SHAPES
    assert len(traps.take_new_reasons()) <= MAX_NEW_REASONS
