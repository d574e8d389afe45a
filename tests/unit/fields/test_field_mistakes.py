"""Rules that are wrong are refused when they are read, not on a page."""

import pytest

from weft.boards.fields import parse_rules
from weft.errors import ConfigError


def mistakes(fields: str) -> list[str]:
    with pytest.raises(ConfigError) as raised:
        parse_rules(f"fields:\n{fields}".encode(), "r.yaml")
    return str(raised.value).splitlines()


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("'h1['", "a: it is no CSS selector: "),
        ("h1::nosuch", "::nosuch is unknown"),
        ("'h1:nosuch'", ":nosuch is unknown"),
        ("''", "it is no CSS selector"),
        pytest.param(f"'{'a ' * 2000}'", "longer than 2,000 characters", id="long css"),
        ("{xpath: '//a['}", "a.xpath: it is no XPath expression: Invalid expression"),
        ("{xpath: ''}", "it is no XPath expression"),
        ("{xpath: 'count(1)'}", "Invalid type"),
        ("{xpath: '//a[nosuch(.)]'}", "there is no function nosuch()"),
        ("{xpath: '//nosuch[document(.)]'}", "there is no function document()"),
        ("{xpath: '//a[re:test(., 1)]'}", "use the step regex"),
        ("{xpath: '//x:a'}", "there is no prefix x"),
        ("{xpath: '//nosuch[$x]'}", "there are no variables"),
        pytest.param(
            f"{{xpath: '{'(' * 60}1{')' * 60}'}}", "more than 50 brackets", id="many brackets"
        ),
        ("{regex: '(a'}", "a.regex: it is no regular expression: missing )"),
        pytest.param(
            "{regex: '" + "(" * 900 + ")" * 900 + "'}", "nested too deep", id="deep regex"
        ),
        pytest.param(
            "{regex: '" + "a" * 2001 + "'}", "longer than 2,000 characters", id="long regex"
        ),
        ("{regex: '((a{1000}){1000}){1000}'}", "more than 50,000 parts"),
        ("{regex: '" + "(?:" * 16 + "a" + ")+" * 16 + "'}", "more than 50,000 parts"),
        ("{regex: '" + "(?:" * 16 + "a" + "{1,9})" * 16 + "'}", "more than 50,000 parts"),
        ("{regex: '(?:(?:[(]{300})x{2}){300}'}", "more than 50,000 parts"),
        ("{}", "there is no selector; add css, xpath or regex"),
        ("{css: a, xpath: //a}", "css and xpath are two ways"),
        ("{csss: a}", 'the key "csss" is unknown; did you mean "css"?'),
        ("{css: a, in: url}", "a.in: only a regex looks there"),
        ("{regex: a, in: boddy}", '"boddy" is unknown; possible are "html", "text", "url"'),
        ("[]", "the list is empty"),
        ("[a, 'h1[']", "a[2]: it is no CSS selector"),
        ("5", "a text, a mapping or a list is wanted here, not a number"),
        ("#main", "what follows # is a comment: put it in quotes"),
        ("{css: a, steps: strip}", "a.steps: a list is wanted here, not a text"),
        ("{css: a, steps: [strp]}", 'a.steps[1]: "strp" is unknown; did you mean "strip"?'),
        ("{css: a, steps: [attr]}", '"attr" needs a value; write "attr: VALUE"'),
        ("{css: a, steps: [first: 2]}", '"first" takes no value'),
        ("{css: a, steps: [jion: x]}", 'the key "jion" is unknown; did you mean "join"?'),
        ("{css: a, steps: [{join: a, split: b}]}", "split and join are two steps"),
        ("{css: a, steps: [{}]}", "there is no step here"),
        ("{css: a, steps: [split: '']}", "a text that is not empty is wanted"),
        ("{css: a, steps: [number: ';']}", '";" is unknown'),
        ("{css: a, steps: [regex: '(']}", "steps[1].regex: it is no regular expression"),
        ("{css: a, steps: [replace: {'(': ''}]}", "it is no regular expression"),
        (r"{css: a, steps: [replace: {'(a)': '\2'}]}", "invalid group reference"),
        (r"{css: a, steps: [replace: {'a': '\g<x>'}]}", 'cannot be replaced by "\\g<x>"'),
        ("{css: a, steps: [strip, html]}", "a.steps: html must be the first step"),
        ("{css: a, steps: [strip, {attr: b}]}", "attr must be the first step"),
        ("{regex: a, steps: [html]}", "html is for elements, and a regex finds texts"),
    ],
)
def test_a_mistake_is_told_with_its_field_and_cure(form: str, words: str) -> None:
    [told] = mistakes(f"  a: {form}")
    assert told.startswith("r.yaml:2:")
    assert words in told


def test_all_mistakes_of_a_file_are_told_at_once() -> None:
    told = mistakes(
        "  2x: h1\n  author: a\n  authors: b\n  b: 'h1['\n  title: {css: a, steps: [all]}"
    )
    assert [line.split(":")[1] for line in told] == ["2", "3", "5", "6"]
    assert "a field's name begins with a letter" in told[0]
    assert "this is the field authors" in told[1]
    assert "title holds one value" in told[3]


def test_counts_that_do_not_multiply_are_no_mistake() -> None:
    text = r"fields: {a: {regex: '(\d{4})-(\d{2}).{0,900}(x{3}){300}[)]{90}\){90}y{5000}'}}"
    assert parse_rules(text.encode(), "r.yaml").rules
