"""`weft.LinkExtractor` finds what Scrapy's finds; where it does not, docs/links.md says why."""

import gc
import html
import logging
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scrapy.http import HtmlResponse, JsonResponse, Response, TextResponse, XmlResponse
from scrapy.link import Link
from scrapy.linkextractors import LinkExtractor as ScrapyLinkExtractor
from scrapy.spiders import CrawlSpider, Rule

import weft
from weft import demo
from weft.engine.links import extractor as linkextractor
from weft.engine.links.extractor import LinkExtractor
from weft.engine.links.hrefs import tree_of

# Two parsers, the first of them cold: slower now and then than hypothesis expects.
unhurried = settings(deadline=None)

PAGE = "http://example.org/dir/page.html?x=1"
ENCODINGS = ["utf-8", "cp1252", "koi8-r", "gbk", "shift_jis", "iso-2022-jp", "utf-16"]


def page(
    text: str,
    url: str = PAGE,
    encoding: str = "utf-8",
    kind: type[TextResponse] = HtmlResponse,
    content_type: str = "text/html",
) -> TextResponse:
    body = text.encode(encoding, "xmlcharrefreplace")
    return kind(url, body=body, encoding=encoding, headers={"Content-Type": content_type})


def links(text: str, **arguments: Any) -> list[tuple[str, str]]:
    found = LinkExtractor(**arguments).extract_links(page(text))
    return [(link.url.removeprefix("http://example.org"), link.text) for link in found]


def scrapys(text: str, **arguments: Any) -> list[tuple[str, str]]:
    found = ScrapyLinkExtractor(**arguments).extract_links(page(text))
    return [(link.url.removeprefix("http://example.org"), link.text) for link in found]


def both(make: Callable[[], TextResponse], **arguments: Any) -> tuple[list[Link], list[Link]]:
    """What the two find on equal pages that nobody has looked at yet."""
    ours, theirs = LinkExtractor(**arguments), ScrapyLinkExtractor(**arguments)
    return ours.extract_links(make()), theirs.extract_links(make())


# Hrefs: of pieces that mean something in some place, as a person would write them, and any text.
PIECES = """/ // . .. a b.html c.PDF ? # = & : ; ' " ( [ ] | @ % %20 %zz + ~ _ - \\ 80 99999 ü 日本
http:// https:// HTTP:// ftp:// file:/// mailto: javascript: tel: data: localhost: x.org X.Org
bücher.example user:pw@ [::1] xn--bcher-kva."""
pieces = st.lists(st.sampled_from([*PIECES.split(), " ", "\t", "\n", "\u00a0"]), max_size=7).map(
    "".join
)
words = st.text(alphabet="abcXYZ019-_.~", min_size=1, max_size=8)
plain = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "/", "../", "./", "//x.org/", "http://x.org/", "https://y.org:8080/"]),
    st.lists(words, max_size=3).map("/".join),
    st.sampled_from(["", "/", "?q=1", "?q=ü#f", "#f", ".zip", ".tar.gz?x", ";p=1", "?u=http://z/"]),
)
anything = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"]), max_size=8)
hrefs = st.one_of(pieces, plain, anything)
bases = st.sampled_from(
    [
        "",
        "",
        "",
        '<base href="/b/c">',
        "<base href='//x.org?q'>",
        "<base href='http://ü.de/a/../b'>",
    ]
)
urls = st.sampled_from(
    [
        PAGE,
        "http://h",
        "https://h:80/a//b/../c;p?q#f",
        "http://u:p@h/x/",
        "http://h?q",
        "ftp://f/a/b",
    ]
)


def anchor(href: str, attributes: str = "", content: str = "text") -> str:
    return f'<a href="{html.escape(href)}"{attributes}>{content}</a>'


@unhurried
@given(st.lists(hrefs, max_size=6), bases, urls, st.sampled_from(ENCODINGS), st.booleans())
@example(["#", "?", "", " ", "#f", "?q", "//", "///x", "/?#"], "", "http://h", "utf-8", True)
@example(["/日本?日本", "/日本", "/ü?ü#ü", "日本/ü"], "", PAGE, "gbk", True)
@example([" /a ", "\n/b", " c"], "", PAGE, "utf-8", False)
def test_hrefs_become_the_urls_that_scrapy_makes_of_them(
    values: list[str], base: str, url: str, encoding: str, strip: bool
) -> None:
    text = f"<head>{base}</head>" + "".join(map(anchor, values))
    ours, theirs = both(lambda: page(text, url, encoding), strip=strip, deny_extensions=())
    assert ours == theirs


inline = st.recursive(
    st.one_of(
        st.sampled_from(
            ["text", " ", "&eacute;&amp;", "<br>", "<!-- note -->", "<img src='/i.png'>"]
        ),
        st.sampled_from(
            ["<script>if (a < b) '<a href=/no>'</script>", "<b>bold</b>", "ü\u00a0\r\n日"]
        ),
    ),
    lambda parts: st.builds("<{0}>{1}</{0}>".format, st.sampled_from(["b", "SPAN"]), parts),
    max_leaves=4,
)
rels = st.sampled_from(["", "", " rel=nofollow", " rel='x, NoFollow'", " rel", ' title="ü"'])
anchors = st.builds(anchor, hrefs, rels, inline)
areas = st.builds('<map><AREA alt=x HREF="{}" /></map>'.format, hrefs.map(html.escape))
images = st.builds('<img src="{}" longdesc="/d">'.format, hrefs.map(html.escape))
leaves = st.one_of(inline, anchors, areas, images, anchors)
TAGS = ["div", "div class=one", "DIV class='One two' id=x", "p", "section", "noscript", "template"]


def element(tag: str, parts: list[str]) -> str:
    return f"<{tag}>{' '.join(parts)}</{tag.split()[0]}>"


def listed(parts: list[str]) -> str:
    return element("ul class=one", [element("li", [part]) for part in parts])


def tabled(parts: list[str]) -> str:
    return element("table", [element("tr", [element("td class=two", [part])]) for part in parts])


blocks = st.recursive(
    leaves,
    lambda parts: st.one_of(
        # A paragraph that holds blocks is broken.
        st.builds(element, st.sampled_from([*TAGS[:3], *TAGS[4:]]), st.lists(parts, max_size=4)),
        st.builds(element, st.just("p"), st.lists(leaves, max_size=4)),
        st.lists(parts, max_size=3).map(listed),
        st.lists(parts, max_size=3).map(tabled),
    ),
    max_leaves=10,
)
documents = st.builds(
    "{}<html><head><title>t</title>{}</head><body>{}</body></html>".format,
    st.sampled_from(["<!DOCTYPE html>", ""]),
    bases,
    st.lists(blocks, max_size=4).map("".join),
)


def without_x(value: str) -> str | None:
    return None if "x" in value else value


PATTERNS = [(), "a", [r"\.html$", "org"], "^http://example", r"\?"]
SELECTORS: list[str | list[str]] = [
    *(
        ".one",
        "ul > li",
        "table > tr",
        "div, .one",
        "#x .one",
        "a",
        ".One",
        "div  li,#x",
        ".one.two",
    ),
    # Beyond what lexbor is asked:
    *("tbody a", "li:first-child", "[class]", "DIV", ["div", ".two"], [".two", "li:last-child"]),
]
arguments = st.fixed_dictionaries(
    {},
    optional={
        "allow": st.sampled_from(PATTERNS),
        "deny": st.sampled_from(PATTERNS),
        "allow_domains": st.sampled_from(["example.org", ["X.org", "h"], "org"]),
        "deny_domains": st.sampled_from(["example.org", ["x.org", "h:80"]]),
        "restrict_xpaths": st.sampled_from(["//div", ["//p", "//td"], "//nothing"]),
        "restrict_css": st.sampled_from(SELECTORS),
        "tags": st.sampled_from(["a", ("a", "img"), "*", "A", (), None, "template"]),
        "attrs": st.sampled_from(["href", ("src", "href", "longdesc"), "*", "HREF", ()]),
        "deny_tags": st.sampled_from(["a", "area"]),
        "deny_attrs": st.sampled_from(["href", "src"]),
        "canonicalize": st.booleans(),
        "unique": st.booleans(),
        "process_value": st.sampled_from(
            [None, str.upper, without_x, lambda value: f" /p?{value}"]
        ),
        "deny_extensions": st.sampled_from([(), "html", ["gz", "x.org", "", "PDF"]]),
        "strip": st.booleans(),
        "restrict_text": st.sampled_from(["bold", ["text", "^$"]]),
    },
)


@unhurried
@given(documents, arguments, st.sampled_from(ENCODINGS))
def test_links_of_sound_pages_are_the_same_for_all_arguments(
    text: str, chosen: dict[str, Any], encoding: str
) -> None:
    ours, theirs = both(lambda: page(text, encoding=encoding), **chosen)
    assert ours == theirs


SOUP = """a /a p /p b /b div /div ul li /li table tr td /td /table h1 /h1 form /form select option
/select noscript textarea /textarea script /script style /style title /title xmp /xmp iframe /iframe
!-- noframes /noframes head /head body /body html span /span button /button plaintext"""


def soup(tags: list[str]) -> str:
    """Tags as they come; each link is another one."""
    parts = [f"<a href=/{number}>" if tag == "a" else f"<{tag}>" for number, tag in enumerate(tags)]
    return "text".join(parts)


@unhurried
@given(st.lists(st.sampled_from([*SOUP.split(), "a", "a", "/a", "--"]), max_size=14).map(soup))
def test_broken_pages_lead_to_the_same_urls(text: str) -> None:
    assert {url for url, _ in links(text)} == {url for url, _ in scrapys(text)}


CASES: list[tuple[str, dict[str, Any]]] = [
    (anchor("/a?it's") + anchor("/it's#it's"), {}),
    (anchor("ftp://f/a") + anchor("file:///a") + anchor("data:,a") + anchor("x.org:80/a"), {}),
    (anchor("/a.pdf") + anchor("/a.PDF?x") + anchor("/a.Tar.gz#x") + anchor("/a.gz"), {}),
    (anchor("/a.pdf;x") + anchor("/a;x/b.pdf") + anchor("/?a.pdf"), {}),
    (anchor("http://x.zip") + anchor("http://x.zip#a") + anchor("http://x.zip?a"), {}),
    (anchor("/?x=1&y=2") + anchor("/?y=2&x=1"), {"canonicalize": True}),
    (anchor("/?x=1&y=2") + anchor("/?y=2&x=1"), {"canonicalize": True, "unique": False}),
    (anchor("/1") + anchor("/1", content="x"), {"restrict_text": "x"}),
    (anchor("/1") + f"<p>{anchor('/1', content='x')}</p>", {"restrict_text": "x"}),
    (f"<p class=one>{anchor('/1')}</p><p class=One>{anchor('/2')}</p>", {"restrict_css": ".one"}),
    (f"<p id=one>{anchor('/1')}</p><p id=ONE>{anchor('/2')}</p>", {"restrict_css": "#one"}),
    (f"<div class=one>{anchor('/1')}</div>", {"restrict_css": "div, .one", "unique": False}),
    (
        f"<div>{anchor('/1')}<div>{anchor('/2')}</div></div>",
        {"restrict_css": "div", "unique": False},
    ),
    (f"<table><tr><td>{anchor('/1')}</table>", {"restrict_css": "table > tr"}),
    (f"<table><tr><td>{anchor('/1')}</table>", {"restrict_css": "tbody"}),
    (f"<template><p class=x>{anchor('/1')}</p></template>", {"restrict_css": ".x"}),
    (f"<template href=/1>{anchor('/2')}</template>", {"tags": ("template", "a")}),
    (
        "<img src=/1 longdesc=/2><img longdesc=/3 src=/4>",
        {"tags": "img", "attrs": ("longdesc", "src")},
    ),
    (anchor("http://u@h/") + anchor("http://h:80/") + anchor("http://a.h"), {"allow_domains": "h"}),
]


@pytest.mark.parametrize(("text", "chosen"), CASES)
def test_links_are_the_same_in_this_case(text: str, chosen: dict[str, Any]) -> None:
    ours, theirs = both(lambda: page(text), **chosen)
    assert ours == theirs


@pytest.mark.parametrize("path", demo.pages())
def test_links_of_the_demo_site_are_the_same(path: str) -> None:
    text = demo.pages()[path]
    ours, theirs = both(lambda: page(text, f"http://example.org{path}"))
    assert ours == theirs
    assert len(ours) > 5
    assert links(text, restrict_css="nav") == scrapys(text, restrict_css="nav") != []


BROKEN_AND_THE_SAME = [
    "<a href=/1>one<a href=/2>two</a>",
    "<A HREF=/1>x</A>",
    "<a href=/1 href=/2>first of two",
    "<a\nhref\n=\n'/1'\n>x</a\n>",
    '<a href="/1>x</a><a href="/2">y</a>',
    "<a href=/1 <a href=/2>x</a>",
    "<a href=/1><b>bold</a> more</b><a href=/2>x",
    "<a href=/1/>x</a>",
    "<a href>x</a><a href=''>y</a><a href=#>z</a>",
    "<a href='/\0x'>y\0z</a>",
    "<a href='/&copy=1&amp;&eacute;&nope;&#128;'>&copy=1&#128;</a>",
    "<a href=/1>trailing space \n ",
    "</a></p></body></html><a href=/1>",
    "<body><body><a href=/1><body>",
    "<!--><a href=/1>x</a>-->",
    "<!-- <a href=/1>x</a> --!><a href=/2>",
    "<![CDATA[<a href=/1>x</a>]]><a href=/2>",
    "<?php echo '<a href=/1>'; ?><a href=/2>",
    "<title><a href=/1></title><textarea><a href=/2></textarea><a href=/3>",
    "<plaintext><a href=/1>",
    "<head><noscript><a href=/1>x</a></noscript></head>",
    "<template><a href=/1>x</a><template><a href=/2>y</a></template></template><a href=/3>z",
    "<svg><a href=/1>x</a><a xlink:href=/2>y</a></svg>",
    "<a href=x><base href=/b/>",
    "<frameset></frameset><body><a href=/1>x</a></body>",
    "<frameset><noframes><a href=/1>x</a></noframes></frameset>",
    "",
    "\0",
    "{}",
]


@pytest.mark.parametrize("text", BROKEN_AND_THE_SAME)
@pytest.mark.parametrize("unique", [True, False])
def test_what_is_broken_like_this_gives_the_same_links(text: str, unique: bool) -> None:
    ours, theirs = both(lambda: page(text), unique=unique)
    assert ours == theirs


# What docs/links.md lists: page, links of ours, links of Scrapy's.
DIFFERENCES = [
    ("<p><a href=/1>one<p>two", [("/1", "one")], [("/1", "onetwo")]),
    ("<li><a href=/1>x<li><a href=/2>y", [("/1", "x"), ("/2", "y")], [("/1", "xy"), ("/2", "y")]),
    (
        "<table><tr><td><a href=/1>x</a></td></tr><a href=/2>y</a></table>",
        [("/2", "y"), ("/1", "x")],
        [("/1", "x"), ("/2", "y")],
    ),
    ("<a href=/1>x<table><tr><td>y</table></a>", [("/1", "xy")], [("/1", "x")]),
    ("<script src=x /><a href=/1>x</a>", [], [("/1", "x")]),
    ("<a href=/1 />x<a href=/2>y</a>", [("/1", "x"), ("/2", "y")], [("/1", ""), ("/2", "y")]),
    ("<svg><title><a href=/1>x</a></title></svg>", [("/1", "x")], []),
    ("<a href=/1>x<template>y</template></a>", [("/1", "x")], [("/1", "xy")]),
]


@pytest.mark.parametrize(("text", "ours", "theirs"), DIFFERENCES)
def test_where_we_differ_we_are_with_the_browsers(
    text: str, ours: list[tuple[str, str]], theirs: list[tuple[str, str]]
) -> None:
    assert links(text) == ours
    assert scrapys(text) == theirs


def test_a_link_that_a_browser_makes_two_of_comes_twice_if_duplicates_are_wanted() -> None:
    text = "<p><a href=/1>one<p>two"
    assert links(text, unique=False) == [("/1", "one"), ("/1", "two")]


XHTML = "<html xmlns='http://www.w3.org/1999/xhtml'><script src='x'/><a href='/1'>x</a></html>"


@pytest.mark.parametrize(
    ("kind", "content_type", "text"),
    [
        (XmlResponse, "text/xml", XHTML),
        (HtmlResponse, "application/xhtml+xml", XHTML),
        (TextResponse, "text/plain", "<script/><a href=/1>x</a>"),
    ],
)
def test_what_is_no_html_is_read_by_scrapys_parser(
    kind: type[TextResponse], content_type: str, text: str
) -> None:
    ours, theirs = both(lambda: page(text, kind=kind, content_type=content_type))
    assert [link.url for link in ours] == ["http://example.org/1"]
    assert ours == theirs


def test_json_has_no_links_and_says_so_as_scrapy_does() -> None:
    for extractor in (LinkExtractor(), ScrapyLinkExtractor()):
        with pytest.raises(AttributeError, match="iter"):
            extractor.extract_links(page("{}", kind=JsonResponse))


def test_a_bad_url_is_told_as_scrapy_tells_it(caplog: pytest.LogCaptureFixture) -> None:
    text = anchor("http://h:99999/") + anchor("/ok")
    with caplog.at_level(logging.DEBUG):
        ours, theirs = both(lambda: page(text))
    assert ours == theirs != []
    told = [(record.name, record.message) for record in caplog.records]
    assert len(told) == 2
    assert told[0] == told[1]


def test_what_is_known_of_an_href_counts_for_its_place_only() -> None:
    """One extractor for pages of all kinds, as in a crawl; a fresh one of Scrapy's for each."""
    ours = LinkExtractor(deny="secret")
    text = "".join(map(anchor, ["/a?é", "/secret", "//x.org/b", "http://h/c;", "d", "?q", "#f"]))
    for _ in range(2):
        for url in [PAGE, "https://example.org/", "http://h/", "http://h:81/x/y", "ftp://f/a"]:
            for encoding in ("utf-8", "cp1252", "utf-16"):
                for base in ("", "<base href=https://other.org/>", "<base href=/z/>"):
                    make = page(base + text, url, encoding)
                    theirs = ScrapyLinkExtractor(deny="secret").extract_links(make)
                    assert ours.extract_links(make) == theirs


@pytest.mark.parametrize("hosts", [1, 5])
def test_an_extractor_remembers_no_more_than_it_may(
    hosts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linkextractor, "MAX_KNOWN_HREFS", 5)
    monkeypatch.setattr(linkextractor, "MAX_KNOWN_PLACES", 3)
    extractor = LinkExtractor()
    for number in range(100):
        root = f"http://h{number % hosts}"
        found = extractor.extract_links(page(anchor(f"/{number}") + anchor("/menu"), f"{root}/x"))
        assert [link.url for link in found] == [f"{root}/{number}", f"{root}/menu"]
        assert 0 < len(extractor._known) <= 3
        # The links of one page are always remembered together.
        assert all(0 < len(known) < 5 + 2 for known in extractor._known.values())


class Picky(LinkExtractor):
    def _link_allowed(self, link: Link) -> bool:
        return link.text == "text"


def test_a_subclass_that_overrides_a_part_of_scrapys_class_is_heeded() -> None:
    found = Picky().extract_links(page(anchor("/1") + anchor("/2", content="other")))
    assert [link.url for link in found] == ["http://example.org/1"]


def test_process_value_sees_every_link_even_a_duplicate() -> None:
    seen: list[str] = []

    def note(value: str) -> str:
        seen.append(value)
        return value

    assert links(anchor("/1") * 3, process_value=note) == [("/1", "text")]
    assert seen == ["http://example.org/1"] * 3


def test_process_value_may_return_bytes() -> None:
    ours, theirs = both(lambda: page(anchor("/ü")), process_value=str.encode)
    assert ours == theirs != []


def test_arguments_may_be_iterators() -> None:
    arguments = {"tags": iter(["a"]), "attrs": iter(["href"]), "restrict_css": iter([".x"])}
    assert links(f"<p class=x>{anchor('/1')}</p>{anchor('/2')}", **arguments) == [("/1", "text")]


@pytest.mark.parametrize("url", ["http://h/a", "http://h/b", "http://x.org/a", "no url"])
def test_matches_tells_whether_a_url_fits(url: str) -> None:
    arguments: dict[str, Any] = {"allow": "a", "deny": "b", "deny_domains": "x.org"}
    assert LinkExtractor(**arguments).matches(url) == ScrapyLinkExtractor(**arguments).matches(url)


class Crawler(CrawlSpider):
    name = "crawler"
    rules = (
        Rule(LinkExtractor(allow="/list/")),
        Rule(weft.LinkExtractor(deny="/list/"), callback="parse_item"),
    )

    def parse_item(self, response: Response) -> None: ...


def test_rules_of_a_crawl_spider_take_it() -> None:
    text = anchor("/list/1") + anchor("/item/2", content="the item")
    requests = [request for request in Crawler()._requests_to_follow(page(text)) if request]
    assert [(request.url, request.meta["rule"]) for request in requests] == [
        ("http://example.org/list/1", 0),
        ("http://example.org/item/2", 1),
    ]
    assert requests[1].meta["link_text"] == "the item"


def test_a_page_is_parsed_once_and_forgotten_with_its_response() -> None:
    response = page(anchor("/1"))
    tree = tree_of(response)
    LinkExtractor().extract_links(response)
    assert tree_of(response) is tree
    gone = weakref.ref(response)
    del response
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_tree_has_the_text_as_scrapy_decodes_it(encoding: str) -> None:
    tree = tree_of(page("<title>ü日\0ж</title>", encoding=encoding))
    assert tree is not None
    title = tree.css_first("title")
    assert title is not None
    assert title.text() == page("<title>ü日ж</title>", encoding=encoding).css("title::text").get()
