"""What is too much for a parser is found before it parses; what is not is left alone."""

import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborNode

from bench.crawlers.pages import Author, StaticSite
from effort import times
from weft.markup import PageLimits, find_excess, find_long_tag, parse_page
from weft.markup.limits import FEW_BYTES, SHALLOW_TAGS
from weft.markup.reduce import reduced
from weft.testing.hostile import markup

#: CPU time of a parse that is let through.
BEARABLE_S = 1.0

HOSTILE = [name for name in markup.pages() if not name.startswith("large/")]


def body_of(name: str) -> bytes:
    return b"".join(markup.pages()[name].pieces()).partition(b"\r\n\r\n")[2]


def limit_of(page: bytes, limits: PageLimits | None = None) -> str:
    excess = find_excess(page, limits) if limits else find_excess(page)
    return excess.limit if excess else ""


# What is refused, and why


@pytest.mark.parametrize(
    ("page", "limit"),
    [
        (b"x" * 10_000_001, "bytes"),
        (b"<p>" * 100_001, "tags"),
        (b"<div>" * 20_000, "depth"),
        (b"<div>" * 20_000 + b"</div>" * 20_000, "depth"),
        (b"<div></x>" * 20_000, "depth"),
        (b"<a " + b"".join(b"a%d " % number for number in range(20_000)) + b">", "attributes"),
        (b"<p>" + b"".join(b"<b a%d>" % n for n in range(2_000)) + b"<p>x" * 2_000, "formatting"),
    ],
)
def test_a_page_beyond_a_limit_is_not_parsed(page: bytes, limit: str) -> None:
    assert limit_of(page) == limit


def test_the_reason_names_the_setting() -> None:
    excess = find_excess(b"<p>" * 100_001)
    assert excess is not None
    assert excess.reason == "not parsed: more tags than WEFT_MAX_PAGE_TAGS = 100000"


@pytest.mark.parametrize(
    "page", [b"x" * 11_000_000, b"<p>x</p>" * 60_000, b"<div>" * 20_000, b"<a b c>" * 20_000]
)
def test_a_limit_of_0_is_none(page: bytes) -> None:
    assert limit_of(page, PageLimits(0, 0, 0, 0)) == ""


@pytest.mark.parametrize("name", HOSTILE)
def test_whatever_is_let_through_can_be_parsed_in_a_moment(name: str) -> None:
    page = body_of(name)
    started_s = time.process_time()
    if find_excess(page) is None:
        tree = parse_page(page)
        tree.css("a[href]")
        if tree.body is not None:
            tree.body.text()
    assert time.process_time() - started_s < BEARABLE_S


# What is not


@pytest.mark.parametrize(
    "name",
    [
        *("links", "same-links", "options", "rows", "items", "breaks", "forms", "comments"),
        *("scripts", "bases", "metas", "ends"),
    ],
)
def test_a_page_that_is_only_large_is_parsed(name: str) -> None:
    assert limit_of(body_of(f"many/{name}")) == ""


@pytest.mark.parametrize("kilobytes", [2, 30, 150, 700])
def test_pages_as_people_write_them_are_parsed(kilobytes: int) -> None:
    site = StaticSite(pages=3, page_bytes=1_000 * kilobytes, links=2 * kilobytes)
    assert [limit_of(page.html) for page in Author(site, 80).pages()] == ["", "", ""]


def test_the_same_formatting_is_repeated_three_times_only() -> None:
    assert limit_of(b'<table><td><font color="red">x</td><td>y</td>' * 2_000) == ""
    assert limit_of(b'<table><td><font color=a" b=">x</td><td>y</td>' * 2_000) == "formatting"


def test_a_long_text_is_no_long_tag() -> None:
    assert limit_of(b"<pre>" + b"word and " * 100_000 + b"</pre>") == ""


def test_a_long_value_is_no_long_tag() -> None:
    assert limit_of(b'<img src="data:' + b"x" * 500_000 + b'"> <p>text</p>') == ""


# Never less than there is

NAMES = (
    *("div", "p", "b", "i", "a", "table", "tr", "td", "select", "option", "svg", "g", "math", "mi"),
    *("li", "ul", "dd", "dt", "form", "button", "font", "span", "object", "ruby", "rt", "template"),
    *("h1", "title", "script", "style", "noscript", "nobr", "optgroup", "caption", "x", "center"),
)
ODD = (
    *(
        "x",
        "text ",
        "<br>",
        "<col>",
        "<col/>",
        "<svg/>",
        "<div/>",
        "<!-- ",
        "-->",
        "<!-->",
        "<x<b>",
    ),
    *("</b>>", "<di<b>", "v>", '<x a=b" c=">t</x>">', ' a="', '">', "<i a='", "<b a=<i>", "\0"),
    *("<div title='</div>'>", '<p a=">">', "<input>", "<textarea>", "<![CDATA[", "]]>", "<?", "</"),
)
TOKENS = st.one_of(
    st.sampled_from(NAMES).map(lambda name: f"<{name}>"),
    st.sampled_from(NAMES).map(lambda name: f"</{name}>"),
    st.sampled_from(ODD),
)
#: Patterns that are repeated, one after the other.
SOUP = st.lists(st.lists(TOKENS, min_size=1, max_size=7), min_size=1, max_size=3)
REPEATED = 40


def depth_of(node: LexborNode | None) -> int:
    deepest, waiting = 0, [(node, 1)]
    while waiting:
        found, depth = waiting.pop()
        deepest = max(deepest, depth)
        waiting += [(child, depth + 1) for child in elements_in(found)]
    return deepest


def elements_in(node: LexborNode | None) -> Iterator[LexborNode]:
    child = node.first_child if node is not None else None
    while child is not None:
        if child.is_element_node:
            yield child
        child = child.next


@given(SOUP)
@settings(max_examples=times(100, 400), deadline=None)
def test_tags_that_are_left_bound_the_depth(parts: list[list[str]]) -> None:
    page = "".join("".join(part) * REPEATED for part in parts).encode()
    left = reduced(page, 0)
    are_open = left.count(b"<") - left.count(b"</")
    # A cell makes a row and a body of its own; and twelve layers are taken out at most.
    assert depth_of(parse_page(page).root) <= 4.5 * (are_open + 16)


@given(
    st.lists(
        st.sampled_from(
            [" a%d", "/b%d", " c%d=1", ' d%d="x"', " e%d='>'", ' f%d=">"', " <g%d", ' h%d="<i>"']
        ),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from(["", "<p>text</p>" * 3_000, '<a title="x">', "<!-- ' -->", "it's <b>so</b> "]),
)
@settings(max_examples=times(20, 50), deadline=None)
def test_a_tag_with_too_many_attributes_is_found(forms: list[str], before: str) -> None:
    many = 30_000 // len(forms)
    attributes = "".join(form % number for number in range(many) for form in forms)
    page = f"{before}<x{attributes}>text".encode()
    assert len(page) > FEW_BYTES
    assert find_long_tag(page) is not None


def test_few_tags_are_not_looked_at_for_depth() -> None:
    assert limit_of(b"<div>" * (SHALLOW_TAGS - 1)) == ""
