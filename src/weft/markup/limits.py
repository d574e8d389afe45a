"""The limits of a page, and whether a page exceeds one."""

import re
from collections import Counter

import msgspec

from weft.markup.attributes import has_tag_with_more, root_attributes
from weft.markup.reduce import ATTRIBUTES, reduced

#: Up to this size a page is cheap, whatever it contains.
SMALL_BYTES = 8_192
#: Up to this size the attributes of a tag are cheap: distinct names take three bytes each.
FEW_BYTES = 65_536
#: Up to this number, tags cannot make too many elements, in any order: half of them may be
#: formatting that each of the others repeats.
FEW_TAGS = 2_000
#: Up to this number of tags, any depth is cheap enough.
SHALLOW_TAGS = 15_000
#: Elements that the formatting of a page may make in addition to its tags.
MAX_REPEATED = 1_000_000
#: A formatting tag that is open three times, with the same attributes, is not repeated more often.
SAME = 3

# Formatting tags, html and body, with attributes. Faster than with re.IGNORECASE.
_NOTABLE = re.compile(
    rb"<[BCEFHISTUbcefhistu]"
    rb"(?:|[Mm]|[Tt]|[Ii][Gg]|[Oo][Dd][EeYy]|[Oo][Nn][Tt]|[Mm][Aa][Ll][Ll]|[Tt][Rr][Oo][Nn][Gg]"
    rb"|[Tt][Rr][Ii][Kk][Ee]|[Tt][Mm][Ll])[\s/]"
)
_ROOTS = frozenset((b"<body", b"<html"))
# All formatting tags, matched completely if they follow the standard. Not `a` and `nobr`: each one
# ends the one before it.
_FORMATTING = re.compile(
    rb"<(?:b|big|code|em|font|i|s|small|strike|strong|tt|u)(?![a-zA-Z0-9-])"
    rb"(?:" + ATTRIBUTES + rb">)?+",
    re.IGNORECASE,
)
#: The number of names of formatting tags.
_MANY_NAMES = 12


class PageLimits(msgspec.Struct, frozen=True):
    """Pages that exceed one of these are not parsed; 0: no limit."""

    max_bytes: int = 10_000_000
    max_tags: int = 100_000
    max_depth: int = 2_000
    max_attributes: int = 5_000


DEFAULT_LIMITS = PageLimits()


class Excess(msgspec.Struct, frozen=True):
    """Why a page is not parsed."""

    #: Which limit it is, for counting.
    limit: str
    #: For those who can change the setting of the limit.
    reason: str
    #: For all others.
    plain_reason: str


def find_excess(page: bytes, limits: PageLimits = DEFAULT_LIMITS) -> Excess | None:
    """The limit that a page, in UTF-8, exceeds; None if it can be parsed.

    For a page of 30 KB this is one count. Pages that are cheap anyway are not checked for depth and
    attributes.
    """
    size_bytes = len(page)
    if 0 < limits.max_bytes < size_bytes:
        return _too_much("bytes", "more bytes", limits.max_bytes)
    if size_bytes <= SMALL_BYTES:
        return None
    tags = page.count(b"<")
    if 0 < limits.max_tags < tags:
        return _too_much("tags", "more tags", limits.max_tags)
    if tags <= FEW_TAGS and size_bytes <= FEW_BYTES:
        return None
    notable = _NOTABLE.findall(page)
    has_many_roots = sum(tag[:-1].lower() in _ROOTS for tag in notable) > len(_ROOTS)
    if has_many_roots and 0 < limits.max_attributes < root_attributes(page):
        return _too_many_attributes(limits)
    return find_long_tag(page, limits) or _find_open_tags(page, tags, len(notable), limits)


def find_long_tag(page: bytes, limits: PageLimits = DEFAULT_LIMITS) -> Excess | None:
    """Find a tag with more attributes than any parser can handle."""
    most = limits.max_attributes
    if most and len(page) > FEW_BYTES and has_tag_with_more(page, most):
        return _too_many_attributes(limits)
    return None


def _too_many_attributes(limits: PageLimits) -> Excess:
    return _too_much("attributes", "a tag with more attributes", limits.max_attributes)


def _find_open_tags(page: bytes, tags: int, notable: int, limits: PageLimits) -> Excess | None:
    """Check depth and repeated formatting: both need tags that are not closed."""
    may_be_deep = bool(limits.max_depth) and tags > SHALLOW_TAGS
    may_repeat = (SAME * _MANY_NAMES + notable) * tags > MAX_REPEATED
    if not may_be_deep and not may_repeat:
        return None
    left = reduced(page, limits.max_depth)
    if may_be_deep and left.count(b"<") - left.count(b"</") > limits.max_depth:
        return _too_much("depth", "more open tags", limits.max_depth)
    if _open_formatting(left) * tags > MAX_REPEATED:
        what = "formatting tags that are not closed, which a parser repeats without end"
        return Excess("formatting", f"not parsed: {what}", f"not parsed: {what}")
    return None


def _open_formatting(left: bytes) -> int:
    """The number of formatting tags that a parser may have to remember at a time."""
    return sum(
        min(number, SAME) if tag.endswith(b">") else number
        for tag, number in Counter(_FORMATTING.findall(left)).items()
    )


def _too_much(limit: str, what: str, most: int) -> Excess:
    setting = f"WEFT_MAX_PAGE_{limit.upper()} = {most}"
    return Excess(limit, f"not parsed: {what} than {setting}", f"not parsed: {what} than {most:,}")
