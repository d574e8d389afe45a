"""What rules find on a page."""

import pickle
from typing import Any

import msgspec
import pytest

from weft.boards.fields import NO_RULES, FoundFields, apply_rules, parse_rules
from weft.boards.reading.page import Page

PAGE = """
<html><head><title>Shop</title><meta property="og:title" content="From the head"></head><body>
<h1 class="headline"> Ferry <b>returns</b>
 home<script>x()</script>!</h1>
<p class="by"><a href="/anna"> Anna Berg </a>, <a href="/bo">Bo Li</a></p>
<time datetime="2024-05-01T08:00:00+08:00">yesterday</time><span class="day">05/06/2024</span>
<div class="text"><p>One<br>line</p><!-- note -->Loose<ul><li>a</li><li>b</li></ul>
<table><tr><td>key</td><td>value</td></tr></table></div>
<span itemprop="price">1,234.50 EUR</span>
<img class="late" data-src="/late.jpg" src="empty.gif"><img src="/late.jpg"><img src="/b.jpg">
</body></html>
"""
URL = "https://shop.example/article/77?x=1"


def find(fields: str, page: str = PAGE, **options: Any) -> FoundFields:
    rules = parse_rules(f"fields:\n{fields}".encode(), "rules.yaml")
    return apply_rules(Page(page, URL), rules, **options)


def value(form: str, name: str = "thing") -> Any:
    """What the field becomes; None if nothing was found."""
    values = find(f"  {name}: {form}").values
    return values.get("extra", {}).get(name) if name == "thing" else values.get(name)


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("h1.headline", "Ferry returns home!"),
        ("h1::text", " Ferry "),
        ("'.by a::attr(href)'", "/anna"),
        ("'.by a:nth-child(2)'", "Bo Li"),
        ("""'meta[property="og:title"]'""", "From the head"),
        ("{xpath: '//h1/b'}", "returns"),
        ("{xpath: 'string(//h1/b)'}", "returns"),
        ("{xpath: 'count(//a)'}", 2),
        ("{xpath: 'boolean(//a)'}", True),
        ("{xpath: 'number(//h1)'}", None),
        ("""{xpath: '//p[has-class("by")]/a/@href'}""", "/anna"),
        ("{xpath: '//comment()'}", "note"),
        ("{xpath: '//namespace::*'}", None),
        (r"{regex: 'article/(\d+)', in: url}", "77"),
        (r"{regex: 'itemprop=\S+'}", 'itemprop="price">1,234.50'),
        (r"{regex: '(Loose)\s+a', in: text}", "Loose"),
        ("{regex: 'key(NO)?'}", None),
        (".none", None),
    ],
)
def test_a_selector_finds_the_first_value(form: str, expected: object) -> None:
    assert value(form) == expected


def test_the_text_of_an_element_has_a_line_for_each_paragraph() -> None:
    assert value(".text") == "One\nline\nLoose\na\nb\nkey value"


def test_of_several_selectors_the_first_that_finds_something_counts() -> None:
    assert value("[.none, {regex: nothing}, .by a, h1]") == "Anna Berg"


@pytest.mark.parametrize(
    ("name", "form", "expected"),
    [
        ("title", ".text", "One line Loose a b key value"),
        ("author", ".by a", ("Anna Berg", "Bo Li")),
        ("authors", "{css: .by a, steps: [first]}", ("Anna Berg",)),
        ("published", "time", "2024-05-01T08:00:00+08:00"),
        ("published", "[h1, .day]", "2024-06-05"),
        ("modified", "{css: .day, steps: [date: month-first]}", "2024-05-06"),
        ("images", "img", ("https://shop.example/late.jpg", "https://shop.example/b.jpg")),
        ("canonical_url", ".by a", "https://shop.example/anna"),
        ("canonical_url", "{regex: '()', in: url}", None),
        ("body", "li, .by a", "Anna Berg\nBo Li\na\nb"),
        ("tags", "li", ("a", "b")),
        ("title", "{xpath: count(//a)}", "2"),
    ],
)
def test_fields_of_an_article_come_out_as_the_automatic_ones(
    name: str, form: str, expected: object
) -> None:
    assert value(form, {"author": "authors"}.get(name, name)) == expected


def test_singular_names_mean_the_lists() -> None:
    assert find("  author: .by a\n  tag: li").values == {
        "authors": ("Anna Berg", "Bo Li"),
        "tags": ("a", "b"),
    }


def test_where_the_order_of_dates_is_known_it_counts() -> None:
    assert find("  published: .day", day_first=False).values == {"published": "2024-05-06"}


def test_another_body_does_not_keep_the_markdown_of_the_automatic_one() -> None:
    assert find("  body: h1").values["markdown"] == "Ferry returns home!"
    assert find("  body: h1\n  markdown: h1 b").values["markdown"] == "returns"


def test_rules_that_find_nothing_are_told_and_leave_no_value() -> None:
    found = find("  title: h1\n  price: .none\n  published: h1")
    assert found.values == {"title": "Ferry returns home!"}
    assert found.unmatched == ("price", "published")
    assert found.problems == {}


@pytest.mark.parametrize("page", ["", " ", "\0", "<!-- c -->", "<", "\ud800", "plain text"])
def test_a_page_with_nothing_in_it_has_no_fields(page: str) -> None:
    assert find("  a: h1\n  b: {xpath: '//h1'}", page).unmatched == ("a", "b")


def test_no_rules_find_nothing() -> None:
    assert apply_rules(Page(PAGE), NO_RULES) == FoundFields()


def test_rules_and_what_they_find_can_be_sent_to_other_processes() -> None:
    text = b"fields: {a: {css: .by a, steps: [all, {replace: {A: B}}]}, b: [h1, {regex: x}]}"
    rules = parse_rules(text, "r")
    assert pickle.loads(pickle.dumps(rules)) == rules
    assert msgspec.json.decode(msgspec.json.encode(rules), type=type(rules)) == rules
