"""CSS selectors and XPath expressions of users: checked when they are read, and compiled once.

Both are those of Scrapy, by lxml, with `::text`, `::attr(name)` and `has-class()`. There is nothing
that reads files or the network: functions are those of XPath 1.0, and regular expressions in XPath,
which nothing can stop, are left out.
"""

import re
from functools import lru_cache
from typing import Any

from lxml import etree  # type: ignore[import-untyped]
from parsel.csstranslator import HTMLTranslator

MAX_LENGTH = 2_000
#: lxml evaluates an expression in C, as deep as its brackets are.
MAX_NESTING = 50

_FUNCTIONS = frozenset(
    (
        "boolean", "ceiling", "concat", "contains", "count", "false", "floor", "has-class", "id",
        "lang", "last", "local-name", "name", "namespace-uri", "normalize-space", "not", "number",
        "position", "round", "starts-with", "string", "string-length", "substring",
        "substring-after", "substring-before", "sum", "translate", "true",
    )
)  # fmt: skip
#: What may stand before a bracket and is no function.
_NO_FUNCTIONS = frozenset(
    ("and", "or", "div", "mod", "text", "node", "comment", "processing-instruction")
)
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_CALL = re.compile(r"([\w.-]+(?::[\w.-]+)?)\s*\(")
_PREFIX = re.compile(r"(?<![:\w.-])([\w.-]+):(?!:)")
_TRANSLATOR = HTMLTranslator()
_EMPTY = etree.fromstring("<html><body><p>x</p></body></html>")
_KEPT = 500


@lru_cache(_KEPT)
def xpath(source: str) -> Any:
    """A function from an element to what the expression finds."""
    return etree.XPath(source, regexp=False, smart_strings=False)


@lru_cache(_KEPT)
def xpath_of_css(source: str) -> str:
    return _TRANSLATOR.css_to_xpath(source)


def problem_of_css(source: str) -> str:
    """Why it is no CSS selector; empty if it is one."""
    if len(source) > MAX_LENGTH:
        return f"it is longer than {MAX_LENGTH:,} characters; split it"
    try:
        problem = _problem(xpath_of_css(source))
    # cssselect's errors are of these two; the other for what it knows, but cannot translate.
    except (SyntaxError, RuntimeError) as error:
        return f"it is no CSS selector: {error}"
    return f"it is no CSS selector: {problem}" if problem else ""


def problem_of_xpath(source: str) -> str:
    """Why it is no XPath expression; empty if it is one."""
    if len(source) > MAX_LENGTH:
        return f"it is longer than {MAX_LENGTH:,} characters; split it"
    problem = _foreign(_QUOTED.sub("''", source)) or _problem(source)
    return f"it is no XPath expression: {problem}" if problem else ""


def _foreign(source: str) -> str:
    """What the expression uses and is not there; lxml tells only on a page that leads to it."""
    if source.count("(") + source.count("[") > MAX_NESTING:
        return f"it has more than {MAX_NESTING} brackets"
    for call in _CALL.finditer(source):
        name = call[1].rpartition("::")[2]
        if name not in _FUNCTIONS | _NO_FUNCTIONS:
            cure = "use the step regex" if name.startswith("re:") else "use those of XPath 1.0"
            return f"there is no function {name}(); {cure}"
    if match := _PREFIX.search(source):
        return f"there is no prefix {match[1]}; write *[local-name()='...'] instead"
    return "there are no variables; write the value itself" if "$" in source else ""


def _problem(source: str) -> str:
    try:
        xpath(source)(_EMPTY)
    except (etree.XPathError, ValueError) as error:
        return f"{error}"
    return ""
