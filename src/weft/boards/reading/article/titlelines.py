# ruff: noqa: RUF001 (Chinese punctuation is meant)
"""Finds titles among the lines of pages whose headings are only big letters.

Old pages have no heading elements, and title tags that name only the site, or the site before the
title. Then the lines tell: a title has a line of its own, beside the line with the day.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from weft.boards.reading.article.datetext import find_dates_in
from weft.boards.reading.article.eastern import with_plain_dates
from weft.boards.reading.article.titleparts import split_at_colon
from weft.boards.reading.blocks import PROSE, weight
from weft.boards.reading.page import Page, blocks_of, clean

#: What has no text for readers.
_SILENT = frozenset(("script", "style", "noscript", "template", "option", "textarea", "button"))
#: Elements whose text is a line of its own.
_BLOCKS = frozenset(("div", "td", "th", "p", "h2", "h3", "center", "header"))
_HEADINGS = ("h2", "h3")
#: No day is written without one of these.
_DAY_SIGN = re.compile(r"\d|年")
#: How many nodes are searched.
MAX_NODES = 3000
#: A line with a day, and how long it is at most.
LONGEST_DAY = 60
#: An article follows its title within so many lines.
REACH = 12
#: Shorter lines are labels and names, longer ones are sentences.
SHORTEST_TITLE = 12
LONGEST_TITLE = 150


class ShownLine(NamedTuple):
    text: str
    #: The element around the text.
    node: LexborNode


class TitleLines:
    """The lines of a page, as far as they help to find its title."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def site_of(self, text: str) -> str:
        """The name in "Site: Title", if the page shows both parts apart; empty if it does not.

        A title and its second line stand together.
        """
        site, title = split_at_colon(text)
        is_apart = site and self.has(site) and self.has(title) and not self.has(text)
        return site if is_apart and not self.has(f"{site}\n{title}") else ""

    def has(self, text: str) -> bool:
        """Whether the text has a line of its own."""
        return f"\n{text.casefold()}\n" in self._text

    @cached_property
    def beside_day(self) -> str:
        """The heading right after a day, or the line right before one; empty if the page has
        several, because then it is a list."""
        found: set[str] = set()
        for line in _beside_days(list(_lines(self._page))):
            found.add(line.text)
            if len(found) > 1:
                return ""
        return found.pop() if found else ""

    @cached_property
    def _text(self) -> str:
        return f"\n{blocks_of(self._page).text}\n".replace("\xa0", " ").casefold()


def _lines(page: Page) -> Iterator[ShownLine]:
    body = page.tree.body
    nodes = body.traverse(include_text=True) if body else iter(())
    for node in islice(nodes, MAX_NODES):
        # Half of the texts are white space between tags; to ask the node is cheaper.
        if not node.is_text_node or node.is_empty_text_node:
            continue
        parent = node.parent
        if parent is None or parent.tag in _SILENT:
            continue
        if text := clean(node.text_content or ""):
            yield ShownLine(text, parent)


def _beside_days(lines: Sequence[ShownLine]) -> Iterator[ShownLine]:
    for number, line in enumerate(lines):
        if not _is_day(line.text) or not _has_prose(lines[number : number + REACH]):
            continue
        before = lines[number - 1] if number else None
        after = lines[number + 1] if number + 1 < len(lines) else None
        if after and after.node.tag in _HEADINGS and _can_be_title(after):
            yield after
        elif before and _can_be_title(before):
            yield before


def _has_prose(lines: Sequence[ShownLine]) -> bool:
    return any(weight(line.text) >= PROSE for line in lines)


def _is_day(text: str) -> bool:
    if len(text) > LONGEST_DAY or not _DAY_SIGN.search(text):
        return False
    return any(find_dates_in(with_plain_dates(text)))


def _can_be_title(line: ShownLine) -> bool:
    """Whether the line is all of its element, and neither a link nor a day itself."""
    return (
        line.node.tag in _BLOCKS
        and SHORTEST_TITLE <= weight(line.text) <= LONGEST_TITLE
        and not line.text.endswith((":", "："))
        and clean(line.node.text(deep=True)) == line.text
        and not _is_day(line.text)
    )
