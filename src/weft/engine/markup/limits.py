"""The limits of a page, and whether a page exceeds one."""

import re
from collections import Counter

import msgspec

from weft.engine.markup.attributes import has_tag_with_more, root_attributes
from weft.engine.markup.reduce import ATTRIBUTES, reduced

#: A page of so few bytes costs nothing worth mentioning, whatever is in them.
SMALL_BYTES = 8_192
#: In so few bytes no tag has more attributes than can be borne: distinct names take three each.
FEW_BYTES = 65_536
#: So few tags cannot make more elements than can be borne, in whatever order: half of them may be
#: formatting that each of the others repeats.
FEW_TAGS = 2_000
#: With so few tags any depth can be borne.
SHALLOW_TAGS = 15_000
#: Elements that the formatting of a page may make, beside its tags.
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
# All of them, whole where they are as the standard wants them. Not `a` and `nobr`: the next one
# ends that before it.
_FORMATTING = re.compile(
    rb"<(?:b|big|code|em|font|i|s|small|strike|strong|tt|u)(?![a-zA-Z0-9-])"
    rb"(?:" + ATTRIBUTES + rb">)?+",
    re.IGNORECASE,
)
#: Names of formatting tags.
_MANY_NAMES = 12


class PageLimits(msgspec.Struct, frozen=True):
    """Pages beyond one of these are not parsed; 0: no limit."""

    max_bytes: int = 10_000_000
    max_tags: int = 100_000
    max_depth: int = 2_000
    max_attributes: int = 5_000


DEFAULT_LIMITS = PageLimits()


class Excess(msgspec.Struct, frozen=True):
    """Why a page is not parsed."""

    #: Which limit it is, for counting.
    limit: str
    reason: str


def find_excess(page: bytes, limits: PageLimits = DEFAULT_LIMITS) -> Excess | None:
    """What is too much about a page, as UTF-8; None: it can be parsed.

    For a page of 30 KB this is one count. Pages that can be borne anyway are not looked at for
    depth and attributes.
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
    """A tag with so many attributes that no parser can bear it."""
    most = limits.max_attributes
    if most and len(page) > FEW_BYTES and has_tag_with_more(page, most):
        return _too_many_attributes(limits)
    return None


def _too_many_attributes(limits: PageLimits) -> Excess:
    return _too_much("attributes", "a tag with more attributes", limits.max_attributes)


def _find_open_tags(page: bytes, tags: int, notable: int, limits: PageLimits) -> Excess | None:
    """Depth, and formatting that is repeated: both take tags that are not closed."""
    may_be_deep = bool(limits.max_depth) and tags > SHALLOW_TAGS
    may_repeat = (SAME * _MANY_NAMES + notable) * tags > MAX_REPEATED
    if not may_be_deep and not may_repeat:
        return None
    left = reduced(page, limits.max_depth)
    if may_be_deep and left.count(b"<") - left.count(b"</") > limits.max_depth:
        return _too_much("depth", "more open tags", limits.max_depth)
    if _open_formatting(left) * tags > MAX_REPEATED:
        what = "formatting tags that are not closed, which a parser repeats without end"
        return Excess("formatting", f"not parsed: {what}")
    return None


def _open_formatting(left: bytes) -> int:
    """Formatting tags that a parser may keep in mind at a time."""
    return sum(
        min(number, SAME) if tag.endswith(b">") else number
        for tag, number in Counter(_FORMATTING.findall(left)).items()
    )


def _too_much(limit: str, what: str, most: int) -> Excess:
    return Excess(limit, f"not parsed: {what} than WEFT_MAX_PAGE_{limit.upper()} = {most}")
