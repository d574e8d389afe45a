import can_ada
import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from weft.engine.requests.recent import RecentNumbers
from weft.engine.spiders.site import (
    MAX_URL_LENGTH,
    base_of,
    is_page,
    new_links,
    resolve,
    site_of,
    text_length_of,
    title_of,
)

PAGE = "http://h/dir/page"


def tree(html: str) -> LexborHTMLParser:
    return LexborHTMLParser(html)


@pytest.mark.parametrize(
    ("host", "site"),
    [("h", "h"), ("www.h", "h"), ("www.www.h", "www.h"), ("wwwx.h", "wwwx.h"), ("", "")],
)
def test_hosts_with_and_without_www_are_one_site(host: str, site: str) -> None:
    assert site_of(host) == site


@pytest.mark.parametrize(
    ("html", "base"),
    [
        ("", PAGE),
        ("<base>", PAGE),
        ("<base href>", PAGE),
        ("<base href=''>", PAGE),
        ("<base href='/other/'>", "http://h/other/"),
        ("<base href=' https://x/y '>", "https://x/y"),
        ("<base target=_top><base href=//x/>", "http://x/"),
        ("<base href=/one/><base href=/two/>", "http://h/one/"),
        ("<base href='http://[broken'>", PAGE),
    ],
)
def test_links_are_relative_to_the_base_of_the_page(html: str, base: str) -> None:
    found = base_of(tree(html), PAGE)
    assert found is not None
    assert str(found.href) == base


def test_a_page_whose_own_address_is_no_url_has_no_base() -> None:
    assert base_of(tree("<base href='http://x/'>"), "http://[broken") is None


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("", PAGE),
        ("x", "http://h/dir/x"),
        ("../x", "http://h/x"),
        ("?q", "http://h/dir/page?q"),
        ("//x/y", "http://x/y"),
        ("\n  x \t", "http://h/dir/x"),
        ("mailto:a@b", "mailto:a@b"),
        ("javascript:void(0)", "javascript:void(0)"),
    ],
)
def test_links_become_absolute(href: str, url: str) -> None:
    resolved = resolve(can_ada.parse(PAGE), href)
    assert resolved is not None
    assert str(resolved.href) == url


@pytest.mark.parametrize("href", ["http://[x", "http://", "http://h:99999/", "http://a b/", "//"])
def test_what_is_no_link_is_none(href: str) -> None:
    assert resolve(can_ada.parse(PAGE), href) is None


@pytest.mark.parametrize(
    ("url", "is_one"),
    [
        ("http://h/", True),
        ("https://h/a.html", True),
        ("http://h/a.pdf", False),
        ("http://h/a.JPG", False),
        ("http://h/a.pdf?x", False),
        ("http://h/?file=a.pdf", True),
        ("ftp://h/a", False),
        ("mailto:a@b", False),
        ("javascript:void(0)", False),
        ("http://h/".ljust(MAX_URL_LENGTH, "x"), True),
        ("http://h/".ljust(MAX_URL_LENGTH + 1, "x"), False),
    ],
)
def test_page_is_known_by_its_looks(url: str, is_one: bool) -> None:
    assert is_page(can_ada.parse(url)) is is_one


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>A page</title>", "A page"),
        ("<title>\n A \t page\n</title>", "A page"),
        ("<title>A &amp; <b></title>", "A & <b>"),
        ("<title></title>", ""),
        ("<p>no title</p>", ""),
        ("", ""),
        ("<title>never closed", "never closed"),
    ],
)
def test_title_is_folded_text(html: str, title: str) -> None:
    assert title_of(tree(html)) == title


@pytest.mark.parametrize(
    ("html", "length"),
    [
        ("", 0),
        ("text", 4),
        ("<p>ab</p>", 2),
        ("<p> a \n\n b </p>", 2),
        ("<p>a</p><p>b</p>", 2),
        ("<title>unseen</title><p>ab", 2),
        ("<p>ab<script>var x = 1</script><style>p {}</style>", 2),
        ("<body><noscript>off</noscript><template><p>later</p></template>ab", 2),
        ("<body><noscript><style>x</style><script>y</script></noscript>ab", 2),
        ("<body><svg><style>x<script>y</script></style></svg>ab", 2),
        ("<p>ab<!-- comment", 2),
        ("<b><i>ab</b></i></p></div>", 2),
        ("<table><tr><td>ab", 2),
        ("<frameset><frame></frameset>", 0),
        ("<p>größe", 5),
    ],
)
def test_text_is_what_a_reader_sees(html: str, length: int) -> None:
    assert text_length_of(tree(html)) == length


TAGS = "p script style noscript template svg table title body"
tags = st.sampled_from(
    [*(f"<{slash}{tag}>" for tag in TAGS.split() for slash in ("", "/")), "<!--", "x", "<"]
)


@given(st.lists(tags, max_size=30).map("".join))
def test_broken_html_is_no_error(html: str) -> None:
    page = tree(html)
    assert title_of(page) == title_of(page).strip()
    assert text_length_of(page) <= len(html)
    assert text_length_of(page) == text_length_of(page)


def links(html: str, url: str = PAGE, known: RecentNumbers | None = None) -> list[str]:
    page = tree(html)
    base = base_of(page, url)
    assert base is not None
    return list(new_links(page, base, {"h"}, RecentNumbers(1024) if known is None else known))


def test_links_to_pages_of_the_site_are_followed_in_their_order() -> None:
    html = """
        <a href=b>1</a> <a href="/a#top">2</a> <a href=//www.h/c>3</a> <area href=" ?q ">
        <a href=http://other/>4</a> <a href=x.pdf>5</a> <a href=mailto:a@h>6</a> <a>7</a>
    """
    assert links(html) == ["http://h/dir/b", "http://h/a", "http://www.h/c", "http://h/dir/page?q"]


def test_a_link_in_a_picture_is_none() -> None:
    assert links("<svg><a xlink:href=/x>1</a></svg><a href=/y>2</a>") == ["http://h/y"]


def test_a_link_is_known_in_all_ways_to_write_it() -> None:
    known = RecentNumbers(1024)
    assert links("<a href=/x/y>1</a>", known=known) == ["http://h/x/y"]
    ways = ("http://h/x/y", "//h/x/y", "../x/y", "/x/y")
    assert links("".join(f"<a href={way}>1</a>" for way in ways), known=known) == []
    assert links("<a href=y>1</a>", "http://h/x/z", known) == []


def test_a_place_in_a_page_is_known_with_the_page() -> None:
    known = RecentNumbers(1024)
    assert links("<a href=/dir/page>1</a><a href=/x#a>2</a>", "http://h/", known) == [
        "http://h/dir/page",
        "http://h/x",
    ]
    assert links("<a href=#top>1</a><a href=/x#b>2</a><a href=/x>3</a>", known=known) == []
    assert links("<base href=/y><a href=#top>1</a><a href=''>2</a>", known=known) == ["http://h/y"]


def test_a_link_that_was_met_lately_is_passed_over() -> None:
    known = RecentNumbers(1024)
    assert links("<a href=/x>1</a><a href=/x>2</a>", known=known) == ["http://h/x"]
    assert links("<a href=/x>1</a><a href=/y>2</a>", "http://h/z", known) == ["http://h/y"]


HREFS = [
    *("x", "/x", "//h/x", "http://h/x", "https://h/x", "HTTP://h/x", "//h:80/x", "?q", "#f", "x?q"),
    *("../x", "../../x", "./x", "a/b", "../a/b", "/a/x", "/../x", "/a/../x", "..", ".", "../"),
    *("#", "x#f", "/x#", "?q#f", "http://h/a#f", "../x#f"),
    *("mailto:x", "h:x", "http:x", "http:/x", "x:y/z", "/x:y", "\\x", "/\\h/x", "/\t/h/x", " x "),
]
PAGES = ["http://h/", "http://h/a", "http://h/a/", "http://h/a/b", "https://h/a/b", "http://h/a?q"]
PAGES += ["http://h:81/a/b/c", "http://h/a/b/"]


@given(st.lists(st.tuples(st.sampled_from(PAGES), st.lists(st.sampled_from(HREFS))), max_size=8))
def test_what_is_passed_over_was_found_before(pages: list[tuple[str, list[str]]]) -> None:
    known = RecentNumbers(1024)
    found: set[str] = set()
    for url, hrefs in pages:
        html = "".join(f"<a href='{href}'>x</a>" for href in hrefs)
        found.update(links(html, url, known))
        assert found.issuperset(links(html, url))
