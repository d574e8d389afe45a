"""The next page of small lists, each with one difficulty of real ones."""

# ruff: noqa: RUF001 - arrows look like letters

import pytest

from weft.boards.reading.page import Page
from weft.boards.reading.pager import find_next

SITE = "https://shop.example"
URL = SITE + "/shoes"


def following(body: str, url: str = URL) -> list[str]:
    return find_next(Page(f"<html><body>{body}</body></html>", url))


def numbered(*numbers: int, path: str = "/shoes?page={n}") -> str:
    links = [f'<a href="{path.format(n=n)}">{n}</a>' for n in numbers]
    return '<div class="pagination">' + " ".join(links) + "</div>"


@pytest.mark.parametrize(
    "word",
    [
        "Next", "Next page »", "下一页", "下一頁 ›", "次へ", "次のページ", "다음", "weiter",
        "Nächste Seite", "Suivant", "Página siguiente", "Próxima", "Volgende",
        "След.", "Следующая страница", "Dalej", "Další", "Nästa", "Seuraava",
        "Sonraki", "التالي", "ถัดไป", "Older posts",
    ],
)  # fmt: skip
def test_many_languages_have_a_word_for_the_next_page(word: str) -> None:
    assert following(f'<a href="/shoes?page=2">{word}</a>') == [SITE + "/shoes?page=2"]


def test_numbers_alone_lead_on_from_the_first_page() -> None:
    assert following(numbered(2, 3, 9)) == [SITE + f"/shoes?page={n}" for n in (2, 3, 9)]


def test_pages_before_this_one_are_never_given() -> None:
    body = (
        '<a href="/shoes">« First</a>' + numbered(1, 2, 3, 5, 6) + "<a href='/shoes?page=3'>‹</a>"
    )
    assert following(body, URL + "?page=4") == [SITE + "/shoes?page=5", SITE + "/shoes?page=6"]


def test_the_last_page_has_no_next_one() -> None:
    assert following(numbered(7, 8, 9), URL + "?page=10") == []


def test_pages_may_be_counted_from_zero() -> None:
    body = "".join(f'<a href="/shoes?page={n - 1}">{n}</a>' for n in (1, 2, 4, 5))
    assert following(body, URL + "?page=2")[0] == SITE + "/shoes?page=3"


def test_pages_may_be_counted_by_their_first_entry() -> None:
    body = "".join(f'<a href="/shoes?start={20 * (n - 1)}">{n}</a>' for n in (1, 2, 4, 5))
    assert following(body, URL + "?start=40")[0] == SITE + "/shoes?start=60"


def test_an_arrow_in_a_pager_leads_on() -> None:
    body = '<div class="pager"><a href="/shoes/page/2">»</a></div>'
    assert following(body) == [SITE + "/shoes/page/2"]


def test_an_icon_is_known_by_its_class() -> None:
    body = '<ul class="pages"><li class="next"><a href="/shoes/page-2.html"><i></i></a></li></ul>'
    assert following(body) == [SITE + "/shoes/page-2.html"]


@pytest.mark.parametrize("word", ["Load more", "Show more results", "加载更多", "もっと見る"])
def test_a_button_that_loads_more_leads_on_if_it_leads_to_a_page(word: str) -> None:
    assert following(f'<a class="btn" href="?page=2">{word}</a>') == [URL + "?page=2"]
    assert following(f'<a class="btn" href="/all-of-our-brands">{word}</a>') == []


def test_a_next_page_may_begin_after_an_entry_instead_of_having_a_number() -> None:
    assert following('<a href="?after=t3_abc">next ›</a>') == [URL + "?after=t3_abc"]
    assert following('<a href="?colour=red">next ›</a>') == []


def test_the_head_of_a_page_may_name_the_next_one() -> None:
    page = f'<head><link rel="next" href="{URL}?p=2"></head><body><p>Shoes</p></body>'
    assert find_next(Page(page, URL)) == [URL + "?p=2"]


def test_the_next_article_is_no_next_page() -> None:
    body = (
        '<a rel="next" class="next" href="/2026/05/08/why-bridges-fall">Next</a>'
        '<a href="/2026/05/08/why-bridges-fall">Next article</a><a href="/123457">下一篇</a>'
    )
    assert following(body, SITE + "/2026/05/07/how-bridges-stand") == []


def test_another_identifier_is_another_article() -> None:
    body = '<a class="next" href="/entry-12649911991.html">Next</a>'
    assert following(body, SITE + "/entry-12650047925.html") == []


@pytest.mark.parametrize(
    ("own", "other"),
    [("/?p=1234", "/?p=1239"), ("/node/87", "/node/95"), ("/p/120.html", "/p/95.html")],
)
def test_a_number_that_counts_nothing_is_an_identifier(own: str, other: str) -> None:
    body = f'<a rel="next" class="next" href="{other}">Next</a>'
    assert following(body, SITE + own) == []


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ("/shoes?p=7", "/shoes?p=8"),
        ("/shoes_7.html", "/shoes_6.html"),
        ("/shoes?start=40", "/shoes?start=60"),
        ("/shoes?first=41", "/shoes?first=61"),
        ("/shoes?before=1234", "/shoes?before=1178"),
    ],
)
def test_a_number_may_count_pages_or_entries(own: str, other: str) -> None:
    body = f'<a rel="next" class="next" href="{other}">Next</a>'
    assert following(body, SITE + own) == [SITE + other]


def test_arrows_of_a_gallery_lead_nowhere() -> None:
    assert following('<a class="slick-next" href="#">Next</a><a href="#2">2</a>') == []


def test_sizes_of_pages_are_no_pages() -> None:
    body = "".join(f'<a href="/shoes?size={n}">{n}</a>' for n in (20, 50, 100))
    assert following(body) == []


def test_the_days_of_a_calendar_are_no_pages() -> None:
    body = "".join(f'<a href="/shoes?m=201605{n:02}">{n}</a>' for n in range(1, 29))
    assert following(body) == []


def test_numbers_of_comments_are_no_pages() -> None:
    body = "".join(f'<a href="/story-{n * 7}/comments">{n}</a>' for n in (2, 3, 12))
    assert following(body) == []


def test_pages_of_another_site_are_not_the_next_page() -> None:
    assert following('<a href="https://other.example/shoes?page=2">Next</a>') == []


@pytest.mark.parametrize(
    "page",
    [
        "",
        "<a href=",
        "<a rel=next href='http://[x'>Next</a>",
        "<a rel=next>Next</a><i class=next></i>",
        "<a href='?page=99999999999999999999999999'>2</a><a href='?page=3'>3</a>",
        "<a href='/²'>2</a><a href='/٣'>٣</a>",
        "\x00<a href='/\x00'>\ud800 next</a>",
    ],
)
@pytest.mark.parametrize("url", ["", URL, "no url"])
def test_broken_pages_never_raise(page: str, url: str) -> None:
    assert isinstance(find_next(Page(page, url)), list)
