"""Whatever is in a file or on a page: nothing but ConfigError is raised."""

from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.boards.fields import apply_rules, parse_rules
from weft.boards.reading.page import Page
from weft.errors import ConfigError

#: What rules are made of, so that many are nearly right.
WORDS = """fields title author thing css xpath regex in url html text steps strip split join replace
    attr number date absolute first all default h1 .a //a //a/@href (a)(b)? [a-z]+ a{3,5} :not(b)
    ::text ::attr(href) [1] { } [ ] : , - # ' " * & ! | > \\1 \\d @href"""
BETWEEN = ["\n", "\n  ", "\n    ", ": ", ", ", "- ", " "]
PIECES = st.sampled_from([*WORDS.split(), *BETWEEN])
SELECTORS = st.one_of(
    st.sampled_from(["h1", "p a::text", "*", "a::attr(href)", "div > p:first-child", "p ~ a"]).map(
        lambda css: {"css": css}
    ),
    st.sampled_from(
        ["//a", "//p/text()", "//@*", "count(//p)", "string(//h1)", "//p = //a", "1 div 0",
         "//node()", "//comment()", "//p[last()]/following::node()", "//processing-instruction()",
         "id('a')"]
    ).map(lambda xpath: {"xpath": xpath}),
    st.builds(
        lambda source, where: {"regex": source, "in": where},
        st.sampled_from([r"\w+", "(a)|b", "", "(?s)<p>(.*?)</p>", r"(?<x>\d)?", "(?r)a+", r"\b"]),
        st.sampled_from(["html", "text", "url"]),
    ),
)  # fmt: skip
STEPS = st.sampled_from(
    ["strip", "split", "join", "lower", "upper", "unescape", "number", "date", "absolute", "first",
     "last", "all", {"strip": "a"}, {"split": "a"}, {"join": ", "}, {"regex": "(a)|."},
     {"replace": {"(.)": r"\1\1"}}, {"number": ","}, {"date": "month-first"}, {"default": 1.5}]
)  # fmt: skip
FIRST_STEPS: st.SearchStrategy[list[Any]] = st.sampled_from(
    [[], ["text"], ["html"], [{"attr": "href"}]]
)
NAMES = ["title", "published", "images", "body", "canonical_url", "tags", "thing", "other"]


@st.composite
def ways(draw: st.DrawFn, name: str) -> dict[str, Any]:
    way: dict[str, Any] = draw(SELECTORS)
    steps: list[Any] = [] if "regex" in way else [*draw(FIRST_STEPS)]
    steps += draw(st.lists(STEPS, max_size=4))
    if name not in ("images", "tags", "thing", "other"):
        steps = [step for step in steps if step != "all"]
    return {**way, "steps": steps}


RULES = st.fixed_dictionaries({}, optional={name: ways(name) for name in NAMES})
PAGES = st.one_of(
    st.text(),
    st.lists(
        st.sampled_from(
            ["<p>", "</p>", "<a href=/x>", "<a href='http://[':>", "</a>", "<h1 id=a>", "<!--",
             "-->", "<?x", "<svg:b xmlns:x='y'>", "<script>", "<title>", "<template>", "\0",
             "\ud800", "1.5 ", "2024-05-01", "&amp;", "<base href='//'>", "<img src=x>",
             "<time datetime=1>", "<html>", "<frameset>", "]]>"]
        )
        | st.text(max_size=5)
    ).map("".join),
)  # fmt: skip


def refusal(text: str) -> str:
    """Empty if it can be read."""
    try:
        parse_rules(text.encode("utf-8", "surrogatepass"), "r.yaml")
    except ConfigError as error:
        return str(error)
    return ""


@given(st.text() | st.lists(PIECES).map("".join) | st.lists(PIECES).map(" ".join))
@settings(max_examples=300)
def test_a_file_of_rules_is_read_or_refused(text: str) -> None:
    for content in (text, f"fields:\n  a: {text}", f"fields: {{a: {{css: a, steps: [{text}]}}}}"):
        told = refusal(content)
        assert not told or told.startswith("r.yaml:")


@given(
    st.sampled_from(["css", "xpath", "regex"]),
    st.text(max_size=40) | st.lists(PIECES, max_size=8).map("".join),
)
@settings(max_examples=300)
def test_a_selector_is_taken_or_refused_and_then_works(kind: str, source: str) -> None:
    content = yaml.safe_dump({"fields": {"a": {kind: source}}}, allow_unicode=True)
    try:
        rules = parse_rules(content.encode("utf-8", "surrogatepass"), "r.yaml")
    except ConfigError:
        return
    apply_rules(Page("<p>a<a href=/x>b</a><h1>c</h1>", "https://a.example/"), rules)


@given(RULES, PAGES, st.sampled_from(["", "https://a.example/b?c#d", "about:blank", "no url"]))
@settings(max_examples=300)
def test_rules_that_are_valid_never_fail(fields: dict[str, Any], page: str, url: str) -> None:
    rules = parse_rules(yaml.safe_dump({"fields": fields}).encode(), "r.yaml")
    found = apply_rules(Page(page, url), rules)
    matched = {*found.values, *found.values.get("extra", {})} - {"extra", "markdown"}
    assert matched | set(found.unmatched) == set(fields)
    assert not matched & set(found.unmatched)
