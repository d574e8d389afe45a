"""Pages: what rules see of metadata and links, however pages write them."""

import pytest

from weft.boards.reading.page import MAX_TEXT, Page, find_title_tag, open_page
from weft.errors import PageError
from weft.markup import PageLimits

URL = "https://harbour.example/news/ferry?from=home#top"


def page(body: str, head: str = "") -> Page:
    return Page(f"<html><head>{head}</head><body>{body}</body></html>", URL)


def test_meta_tags_are_found_by_any_of_their_names() -> None:
    head = '<meta NAME=" Author " content=" Ann &amp;amp;  Lee "><meta itemprop=date content=1>'
    opened = page("", head + '<meta property="og:title" content=""><meta name=author content=Bo>')
    assert opened.metas == {"author": ["Ann & Lee", "Bo"], "date": ["1"]}
    assert opened.meta("og:title", "author") == "Ann & Lee"


@pytest.mark.parametrize("wrapped", ["{}", "<!--{}-->", "//<![CDATA[\n{}\n//]]>"])
def test_json_ld_is_read_inside_old_wrappings(wrapped: str) -> None:
    value = wrapped.replace("{}", '{"@type":"Article","name":"a\tb"}')
    found = page(f'<script type="application/LD+json">{value}</script>').json_ld
    assert found == [{"@type": "Article", "name": "a\tb"}]


def test_broken_json_ld_does_not_hide_the_next() -> None:
    script = '<script type="application/ld+json">'
    found = page(f'{script}{{"@type":</script>{script}[{{"@graph":[{{"@type":"X"}}]}}]</script>')
    assert found.json_ld == [{"@type": "X"}]


def test_links_are_absolute_and_lead_to_pages() -> None:
    hrefs = ("/a#b", " b ", "?c", "//other.example/", "mailto:x@y", "javascript:go()", "http://[")
    opened = page("".join(f'<a href="{href}">x</a>' for href in hrefs))
    assert [link.url for link in opened.links] == [
        "https://harbour.example/a",
        "https://harbour.example/news/b",
        "https://harbour.example/news/ferry?c",
        "https://other.example/",
    ]


def test_base_changes_what_links_are_relative_to() -> None:
    opened = page("<a href=b>x</a>", '<base href="/archive/">')
    assert opened.links[0].url == "https://harbour.example/archive/b"


@pytest.mark.parametrize(
    "inside",
    ["Ferry <b>returns</b>", "<style>.a{color:red}</style>Ferry returns"],
)
def test_link_is_labelled_with_its_visible_text(inside: str) -> None:
    assert page(f'<a href=a aria-label="no">{inside}</a>').links[0].text == "Ferry returns"


@pytest.mark.parametrize(
    "link",
    [
        '<a href=a aria-label="Ferry returns"></a>',
        '<a href=a title="Ferry returns"><i></i></a>',
        '<a href=a><img alt="Ferry returns"></a>',
    ],
)
def test_link_without_text_is_labelled_with_what_it_has(link: str) -> None:
    assert page(link).links[0].text == "Ferry returns"


def test_long_texts_are_cut() -> None:
    assert len(find_title_tag(page("", f"<title>{'a' * 9_999}</title>"))) == MAX_TEXT


OWN = "https://harbour.example/saved/ferry"


@pytest.mark.parametrize(
    "head",
    [
        f'<link rel="canonical" href="{OWN}">',
        f'<meta property="og:url" content="{OWN}">',
        f'<link rel="canonical" href="/ferry"><meta property="og:url" content="{OWN}">',
    ],
)
def test_saved_page_without_an_address_has_the_one_that_it_announces(head: str) -> None:
    opened = open_page(f"{head}<a href=b>x</a>".encode())
    assert opened.url == OWN
    assert opened.links[0].url == "https://harbour.example/saved/b"


def test_given_address_counts_more_than_the_announced_one() -> None:
    assert open_page(f'<link rel="canonical" href="{OWN}">'.encode(), URL).url == URL


@pytest.mark.parametrize("href", ["", "/ferry", "http://[", "file:///ferry"])
def test_address_that_is_not_absolute_is_none(href: str) -> None:
    assert open_page(f'<link rel="canonical" href="{href}">'.encode()).url == ""


def test_page_over_a_limit_is_not_parsed() -> None:
    with pytest.raises(PageError, match="more bytes"):
        open_page(b"<p>" * 5_000, URL, limits=PageLimits(max_bytes=10_000))


def test_limit_counts_tags_that_only_decoding_shows() -> None:
    hidden = ("<p>" * 5_000).encode("utf-16")
    with pytest.raises(PageError, match="more tags"):
        open_page(hidden, URL, limits=PageLimits(max_tags=1_000))


def test_what_was_found_in_a_page_is_not_searched_again() -> None:
    searched: list[Page] = []

    def find(page: Page) -> int:
        searched.append(page)
        return len(searched)

    one, other = page("one"), page("other")
    assert [one.once(find), one.once(find), other.once(find)] == [1, 1, 2]
    assert searched == [one, other]
