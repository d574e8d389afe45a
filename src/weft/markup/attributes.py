"""Counts the attributes of the tags of a page, by checking a few places of it.

A tag ends with the first `>` that is not inside a quoted value, and a value is quoted if its quote
comes right after a `=`. So if the last quote before a `>` does not come after a `=`, no tag
continues after the `>`, wherever it began: there the page is *cut*. In pages that people write,
that is true for almost every `>`. So a few of them, from all over the page, show that no tag is
longer than the distance between two; tags are read only where they are far apart.
"""

import re
from collections.abc import Iterator

#: Minimum size of an attribute with a distinct name; a repeated name costs nothing.
ATTRIBUTE_BYTES = 3
#: Distance between the places that are checked.
STRIDE_BYTES = 7_168
#: How many `>` are tried at one place.
TRIES = 8
#: Maximum white space between `=` and a quote; more looks like an attempt to hide something.
MAX_SPACE = 16

_SPACE = rb" \t\n\f\r"
# As a parser reads them, including a missing quote. Each takes two bytes or more.
_ATTRIBUTE = re.compile(
    rb"[/%b]*+[^/>%b][^/>=%b]*+"
    rb"(?:[%b]*+=[%b]*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|[^>\"'%b][^>%b]*+)?+)?+".replace(
        b"%b", _SPACE
    )
)
_TAG = re.compile(
    rb"</?[a-zA-Z][^/>%b]*+((?:%a)*+)".replace(b"%a", _ATTRIBUTE.pattern).replace(b"%b", _SPACE)
)
_ROOT_TAG = re.compile(rb"<(?:body|html)[/%b]" % _SPACE, re.IGNORECASE)


def has_tag_with_more(page: bytes, most: int) -> bool:
    """Whether a tag has more attributes than `most`."""
    return any(
        len(_ATTRIBUTE.findall(tag[1])) > most
        for start, end in _between_cuts(page)
        if end - start > ATTRIBUTE_BYTES * most
        for tag in _TAG.finditer(page, start, end)
        if len(tag[1]) > 2 * most
    )


def root_attributes(page: bytes) -> int:
    """The attributes of all html and body tags together: a parser collects them in one element."""
    tags = (tag for tag in _TAG.finditer(page) if _ROOT_TAG.match(tag[0]))
    return sum(len(_ATTRIBUTE.findall(tag[1])) for tag in tags)


def _between_cuts(page: bytes) -> Iterator[tuple[int, int]]:
    quotes = _Quotes(page)
    last = 0
    for start in range(0, len(page), STRIDE_BYTES):
        cut = _cut_in(page, start, quotes)
        if cut is not None:
            yield last, cut
            last = cut
    yield last, len(page)


def _cut_in(page: bytes, start: int, quotes: "_Quotes") -> int | None:
    """The position after a `>` in this stride that surely ends any tag it is in."""
    place, end = start, start + STRIDE_BYTES
    for _ in range(TRIES):
        place = page.find(b">", place, end) + 1
        if not place:
            return None
        if not quotes.may_be_open_before(place):
            return place
    return None


class _Quotes:
    """Queried from left to right, so that the page is searched once."""

    def __init__(self, page: bytes) -> None:
        self._page = page
        self._asked = 0
        # Whether the last quote of each kind may have opened a value.
        self._is_opening = {b'"': False, b"'": False}

    def may_be_open_before(self, place: int) -> bool:
        for quote in self._is_opening:
            last = self._page.rfind(quote, self._asked, place)
            if last >= 0:
                self._is_opening[quote] = self._comes_after_equals(last)
        self._asked = place
        return any(self._is_opening.values())

    def _comes_after_equals(self, place: int) -> bool:
        before = self._page[max(0, place - MAX_SPACE) : place]
        return before.rstrip(_SPACE_BYTES)[-1:] in (b"=", b"")


_SPACE_BYTES = b" \t\n\f\r"
