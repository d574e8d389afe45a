"""Adds links, emphasis and images to the text of a body.

Trafilatura takes other parts of a page for its body when it is asked to keep them. So it is not
asked. They are looked up in the page afterwards, and put where the same words stand in the body.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from weft.boards.reading.article.markdown import Line
from weft.boards.reading.article.pictures import is_own
from weft.boards.reading.page import Page, clean

_SPACE = re.compile(r"\s+")
_SIGNS = {"b": "**", "strong": "**", "i": "*", "em": "*", "code": "`", "kbd": "`", "tt": "`"}
_INLINE = frozenset(("a", "span", *_SIGNS))
#: Around a body; a header is also within one.
_FRAMES = frozenset(("nav", "aside", "footer", "header"))
_BODIES = frozenset(("article", "main", "body"))
_EMPHASIS = ", ".join(_SIGNS)
#: Attributes with the address of a picture that is loaded later.
_ADDRESSES = ("data-src", "data-original", "data-lazy-src", "data-url", "src")
_DECORATION = re.compile(
    r"logo|icon|avatar|sprite|pixel|blank|spacer|placeholder|button|emoji|smil(?:ie|ey)|gravatar|1x1"
    r"|\.svg|^data:",
    re.IGNORECASE,
)
_NO_TEXT = frozenset(("script", "style", "noscript", "template", "svg", "figure", "figcaption"))
#: Smaller ones are no pictures of an article.
MIN_SIDE = 100
#: How many links and emphasised words are looked up, and how many images.
MAX_ORNAMENTS = 2000
MAX_IMAGES = 300
#: How far after the last one the next is searched.
REACH = 100_000
#: How many nodes around an image are looked at for text.
MAX_STEPS = 40
#: So many letters beside an ornament tell its place; fewer beside an image say nothing.
CONTEXT = 12
SAMPLE = 24
MIN_SAMPLE = 4


class Ornament(NamedTuple):
    """A part of the text with signs around it."""

    start: int
    end: int
    before: str
    after: str


class Image(NamedTuple):
    #: The number of the line that it precedes.
    line: int
    url: str
    alt: str

    @property
    def markdown(self) -> str:
        return f"![{_bracketed(self.alt)}]({_target(self.url)})"


def ornament(page: Page, lines: Sequence[Line]) -> list[str]:
    """The texts of the lines with links and emphasis."""
    whole = "\n".join(line.text for line in lines)
    spans = _nested(sorted([*_links(page, whole), *_emphasis(page, whole)], key=_outer_first))
    starts = _starts(lines)
    by_line: list[list[Ornament]] = [[] for _ in lines]
    for span in spans:
        number = bisect_right(starts, span.start) - 1
        line = lines[number]
        if not line.is_code and span.end <= starts[number] + len(line.text):
            by_line[number].append(span)
    return [
        _decorated(line.text, start, spans)
        for line, start, spans in zip(lines, starts, by_line, strict=True)
    ]


def find_images(page: Page, lines: Sequence[Line]) -> list[Image]:
    """The images between the lines of a body, in their order, each URL once."""
    whole = "\n".join(line.text for line in lines)
    starts = _starts(lines)
    found: dict[str, Image] = {}
    for node in page.tree.css("img")[:MAX_IMAGES]:
        url = _address(page, node)
        if url and url not in found and not _is_framed(node) and is_own(page, node):
            line = _line_after(node, whole, starts)
            if line is not None:
                found[url] = Image(line, url, clean(node.attributes.get("alt") or ""))
    return sorted(found.values(), key=lambda image: image.line)


def _starts(lines: Sequence[Line]) -> list[int]:
    """Where each line begins in the whole text."""
    return list(accumulate((len(line.text) + 1 for line in lines), initial=0))[:-1]


def _links(page: Page, whole: str) -> Iterator[Ornament]:
    at = 0
    here = page.absolute("#")
    for link in page.links[:MAX_ORNAMENTS]:
        place = _find(link.node, whole, at) if link.url != here else None
        if place:
            at = place[1]
            yield Ornament(*place, "[", f"]({_target(link.url)})")


def _emphasis(page: Page, whole: str) -> Iterator[Ornament]:
    at = 0
    for node in page.tree.css(_EMPHASIS)[:MAX_ORNAMENTS]:
        place = _find(node, whole, at)
        if place:
            at = place[1]
            sign = _SIGNS[node.tag or ""]
            yield Ornament(*place, sign, sign)


def _find(node: LexborNode, whole: str, at: int) -> tuple[int, int] | None:
    """Where the text of an element stands, with the same words before it or all of a line."""
    text = _spaced(node.text(deep=True)).strip()
    # Most links are in menus.
    if not text or whole.find(text, at, at + REACH) < 0:
        return None
    context = _context(node)
    if not context and not whole.startswith(text):
        context = "\n"
    found = whole.find(context + text, at, at + REACH)
    if found < 0:
        return None
    start = found + len(context)
    return start, start + len(text)


def _context(node: LexborNode) -> str:
    """The end of the text before an element within its line; empty at the beginning of a line."""
    current: LexborNode = node
    while current.prev is None and current.parent is not None and current.parent.tag in _INLINE:
        current = current.parent
    beside = current.prev
    if beside is None or not beside.is_text_node:
        return ""
    text = _spaced(beside.text_content or "")[-CONTEXT:]
    return text if text.strip() else ""


def _outer_first(span: Ornament) -> tuple[int, int]:
    return span.start, -span.end


def _nested(spans: list[Ornament]) -> Iterator[Ornament]:
    """The spans without those that are twice the same or overlap in part."""
    open_ends: list[int] = []
    last: tuple[int, int, str] | None = None
    for span in spans:
        while open_ends and open_ends[-1] <= span.start:
            open_ends.pop()
        same = (span.start, span.end, span.before)
        if same != last and (not open_ends or span.end <= open_ends[-1]):
            open_ends.append(span.end)
            last = same
            yield span


def _decorated(text: str, start: int, spans: Sequence[Ornament]) -> str:
    """A text with the signs of its spans, which are ordered and nested."""
    signs: list[tuple[int, int, str]] = []
    for order, span in enumerate(spans):
        signs.append((span.start - start, order + 1, span.before))
        # What was opened last is closed first, and before anything else is opened.
        signs.append((span.end - start, -order - 1, span.after))
    parts, at = [], 0
    for place, _, sign in sorted(signs):
        parts += [text[at:place], sign]
        at = place
    return "".join([*parts, text[at:]])


def _address(page: Page, node: LexborNode) -> str | None:
    """The address of a picture that is not known to be small or decoration."""
    attributes = node.attributes
    if any(_is_small(attributes.get(name)) for name in ("width", "height")):
        return None
    address = next((value for name in _ADDRESSES if (value := attributes.get(name))), "")
    return page.absolute(address) if address and not _DECORATION.search(address) else None


def _is_small(value: str | None) -> bool:
    digits = (value or "").removesuffix("px")
    return digits.isascii() and digits.isdigit() and len(digits) < 6 and int(digits) < MIN_SIDE


def _is_framed(node: LexborNode) -> bool:
    around = node.parent
    while around is not None and around.tag not in _BODIES:
        if around.tag in _FRAMES:
            return not _is_in_article(around)
        around = around.parent
    return False


def _is_in_article(node: LexborNode) -> bool:
    """Whether a header is that of the article."""
    around = node if node.tag == "header" else None
    while around is not None and around.tag not in _BODIES:
        around = around.parent
    return around is not None and around.tag != "body"


def _line_after(node: LexborNode, whole: str, starts: Sequence[int]) -> int | None:
    """The number of the line that an image precedes; None if it is not in the body."""
    before = _beside(node, is_before=True)[-SAMPLE:]
    if len(before) >= MIN_SAMPLE and (at := whole.find(before)) >= 0:
        return bisect_right(starts, at)
    after = _beside(node, is_before=False)[:SAMPLE]
    if len(after) >= MIN_SAMPLE and (at := whole.find(after)) >= 0:
        return bisect_right(starts, at) - 1
    return None


def _beside(node: LexborNode, *, is_before: bool) -> str:
    """The line of text that ends before a node, or that begins after it."""
    for other in islice(_walk(node, is_before=is_before), MAX_STEPS):
        text = (other.text_content or "").strip() if other.is_text_node else ""
        if text:
            lines = text.split("\n")
            return _spaced(lines[-1] if is_before else lines[0]).strip()
    return ""


def _walk(node: LexborNode, *, is_before: bool) -> Iterator[LexborNode]:
    """The nodes before a node, backwards, or those after it; parents do not count as before."""
    current: LexborNode | None = node
    while current is not None and current.tag != "body":
        beside = current.prev if is_before else current.next
        if beside is None:
            current = current.parent
            continue
        yield beside
        while beside.tag not in _NO_TEXT:
            inner = beside.last_child if is_before else beside.first_child
            if inner is None:
                break
            beside = inner
            yield beside
        current = beside


def _spaced(text: str) -> str:
    return _SPACE.sub(" ", text)


def _bracketed(text: str) -> str:
    return text.replace("[", r"\[").replace("]", r"\]")


def _target(url: str) -> str:
    return f"<{url}>" if "(" in url or ")" in url else url
