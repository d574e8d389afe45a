"""A page as rules see it: its address, its text, its tree, and the time that is left for them."""

from collections.abc import Callable, Iterable
from functools import cached_property
from time import thread_time
from typing import Any

from lxml import etree  # type: ignore[import-untyped]
from msgspec import UNSET

from weft.boards.fields.article import Value
from weft.boards.fields.form import Option, Way
from weft.boards.fields.patterns import MAX_TEXT, MAX_VALUES, pattern
from weft.boards.fields.texts import html_of, text_of
from weft.boards.fields.xpaths import xpath, xpath_of_css
from weft.boards.reading.page import Page

#: The time that a regular expression may take, so that others have some, too.
PATTERN_SECONDS = 0.2
#: Selectors take the square of this in time, and cannot be stopped.
MAX_TAGS = 50_000


class TooLargeError(Exception):
    """The page is too large for CSS and XPath."""


class SearchedPage:
    """The tree is parsed when the first selector needs it."""

    def __init__(self, page: Page, seconds: float, *, day_first: bool = True) -> None:
        self.page = page
        self.day_first = day_first
        # CPU time of this thread: what else the machine does costs no field.
        self._until_s = thread_time() + seconds

    def left_s(self) -> float:
        """Raises TimeoutError if nothing is left."""
        left_s = self._until_s - thread_time()
        if left_s <= 0:
            raise TimeoutError
        return left_s

    def pattern_s(self) -> float:
        """The time for a regular expression. Raises TimeoutError if there is none."""
        return min(self.left_s(), PATTERN_SECONDS)

    @cached_property
    def root(self) -> Any:
        """The root element; None if the page has none."""
        text = self.page.text.replace("\0", "")
        if text.count("<") > MAX_TAGS:
            raise TooLargeError
        if not text.strip():
            return None
        parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, no_network=True)
        return etree.fromstring(text.encode("utf-8", "replace"), parser)

    @cached_property
    def visible_text(self) -> str:
        return "" if self.root is None else text_of(self.root)


def select(way: Way, source: SearchedPage, read: Callable[[Any], str]) -> list[Value]:
    """What the way's selector finds. `read` says what to take of an element, if no step does.

    Raises TimeoutError, TooLargeError, or lxml's XPathError."""
    if way.regex is not UNSET:
        return list(pattern(way.regex).find(_searched(way, source), source.pattern_s()))
    if source.root is None:
        return []
    expression = way.xpath if way.css is UNSET else xpath_of_css(way.css)
    assert expression is not UNSET
    return _values(xpath(expression)(source.root), _reader(way) or read, source)


def _searched(way: Way, source: SearchedPage) -> str:
    match way.in_:
        case "url":
            return source.page.url
        case "text":
            return source.visible_text
        case _:
            return source.page.text


def _reader(way: Way) -> Callable[[Any], str] | None:
    """What the first step says to take of an element."""
    match way.steps[:1]:
        case ("html",):
            return html_of
        case ("text",):
            return text_of
        case (Option(attr=str(name)),):
            return lambda element: str(element.get(name) or "")
        case _:
            return None


def _values(found: Any, read: Callable[[Any], str], source: SearchedPage) -> list[Value]:
    """XPath finds a list of elements and texts, or one text, number or truth."""
    if isinstance(found, list):
        return _read_all(found, read, source)
    if isinstance(found, float):
        # Not a number is neither equal to itself nor a value.
        return [int(found) if found.is_integer() else found] if found == found else []
    return [found]


def _read_all(
    found: Iterable[Any], read: Callable[[Any], str], source: SearchedPage
) -> list[Value]:
    values: list[Value] = []
    size = 0
    for entry in found:
        value = entry if isinstance(entry, str) else read(entry) if _is_node(entry) else ""
        if value.strip():
            values.append(value)
        size += len(value)
        if len(values) == MAX_VALUES or size > MAX_TEXT:
            break
        source.left_s()  # raises TimeoutError
    return values


def _is_node(entry: Any) -> bool:
    """Namespaces are none."""
    return not isinstance(entry, tuple)
