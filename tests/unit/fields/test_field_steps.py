"""The steps that change what a selector found."""

import pytest

from weft.boards.fields import apply_rules, parse_rules
from weft.boards.fields.numbers import read_number
from weft.boards.reading.page import Page

PAGE = """<base href="https://shop.example/a/"><i>  A &amp;amp; b </i><b>one</b><b>two</b><b> </b>
<a href="../c#top">go</a><s>x; y ;z</s><u title="hint">2024-05-01 10:00</u><q>By Anna</q>"""


def run(css: str, steps: str) -> object:
    text = f"fields: {{thing: {{css: '{css}', steps: {steps}}}}}"
    found = apply_rules(Page(PAGE, "https://shop.example/"), parse_rules(text.encode(), "r"))
    return found.values.get("extra", {}).get("thing")


@pytest.mark.parametrize(
    ("css", "steps", "expected"),
    [
        ("i::text", "[strip]", "A &amp; b"),
        ("i", "[strip: 'Ab']", " &amp; "),
        ("i", "[lower]", "a &amp; b"),
        ("i", "[upper]", "A &AMP; B"),
        ("i", "[unescape]", "A & b"),
        ("b", "[first]", "one"),
        ("b", "[last]", "two"),
        ("b", "[all]", ["one", "two"]),
        ("b", "[join]", "one two"),
        ("b", "[join: '/']", "one/two"),
        ("b", "[join: '']", "onetwo"),
        ("s", "[{split: ';'}, strip, all]", ["x", "y", "z"]),
        ("q", "[split, last]", "Anna"),
        ("q", "[{replace: {'^By ': ''}}]", "Anna"),
        ("q", r"[{replace: {'(\w+) (\w+)': '\2 \1', 'A': 'a'}}]", "anna By"),
        ("b", "[{regex: '[a-z]$'}, all]", ["e", "o"]),
        ("b", "[{regex: 't(w)'}]", "w"),
        ("b", "[html]", "<b>one</b>"),
        ("b", "[text]", "one"),
        ("u", "[attr: title]", "hint"),
        ("u", "[attr: none]", None),
        ("u", "[date]", "2024-05-01T10:00:00"),
        ("b", "[date]", None),
        ("a", "[{attr: href}, absolute]", "https://shop.example/c"),
        ("u", "[number]", 2024),
        ("h6", "[{default: 5}, lower]", 5),
        ("b", "[number, {default: none}]", "none"),
        ("b", "[default: none]", "one"),
    ],
)
def test_steps_change_values_in_their_order(css: str, steps: str, expected: object) -> None:
    assert run(css, steps) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12", 12),
        ("EUR 1,234.50 a night", 1234.5),
        ("1.234,50 €", 1234.5),
        ("1 234,5 kr", 1234.5),
        ("1\u202f234\u202f567", 1234567),
        ("CHF 1'234.50", 1234.5),
        ("1,5", 1.5),
        ("1,500", 1500),
        ("1.500", 1.5),
        ("1.234.567", 1234567),
        ("12,34,567", 1234567),
        ("\N{MINUS SIGN}5 °C", -5),
        ("-0.5", -0.5),
        ("A-5", 5),
        ("3 10", 3),
        ("4.5.", 4.5),
        ("99,- €", 99),
        ("٣", 3),
        ("none", None),
        ("9" * 16, None),
        ("²", None),
    ],
)
def test_numbers_are_read_as_people_write_them(text: str, expected: float | None) -> None:
    assert read_number(text) == expected


@pytest.mark.parametrize(
    ("text", "decimal", "expected"),
    [("1.500", ",", 1500), ("1,500", ",", 1.5), ("1,500", ".", 1500), ("1.500", ".", 1.5)],
)
def test_the_sign_before_decimals_can_be_said(text: str, decimal: str, expected: float) -> None:
    assert read_number(text, decimal) == expected
