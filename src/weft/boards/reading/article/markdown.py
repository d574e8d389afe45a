"""Writes the body of an article as text and as Markdown.

Both come from the same lines, so that they agree: a `Line` is a text and what Markdown puts around
it. `ornaments` then adds the links, the emphasis and the images.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec
from lxml.etree import _Element  # type: ignore[import-untyped]

_SPACE = re.compile(r"[^\S\n]+")
_AROUND_BREAK = re.compile(r" *\n[ \n]*")
#: What would be a heading, a list, a quotation or a rule at the beginning of a line.
_STARTS_BLOCK = re.compile(r"(?:#{1,6}|[-+*>]|={3,}|-{3,}|`{3,})(?=\s|$)|>")
_STARTS_NUMBER = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
#: Elements within a line, as trafilatura calls them or as HTML does.
_INLINE = frozenset(
    (
        "a", "b", "del", "em", "graphic", "hi", "i", "img", "lb", "br", "ref",
        "small", "span", "strong", "sub", "sup", "u",
    )
)  # fmt: skip
_BREAKS = frozenset(("lb", "br"))
_LISTS = frozenset(("list", "ul", "ol", "dl"))
_ITEMS = frozenset(("item", "li", "dt", "dd"))
_QUOTES = frozenset(("quote", "blockquote"))
_CODE = frozenset(("code", "pre"))
_ROWS = ("row", "tr")
_CELLS = ("cell", "td", "th")
_HEADING = re.compile(r"h([1-6])")
#: Letters of a text that is a paragraph, and how many of them make a cell part of a layout.
PARAGRAPH = 80
MIN_PARAGRAPHS = 3


class Line(msgspec.Struct):
    text: str
    #: What Markdown writes before the text, and after it.
    before: str = ""
    after: str = ""
    #: Whether an empty line separates it from the line before.
    is_apart: bool = True
    #: Code is shown as it is.
    is_code: bool = False


def read_lines(body: _Element) -> list[Line]:
    """The lines of an element of trafilatura's result, or of plain HTML."""
    return [line for line in _children(body) if line.text.strip()]


def as_text(lines: Sequence[Line]) -> str:
    return "\n".join(line.text for line in lines)


def as_markdown(lines: Sequence[Line], texts: Sequence[str]) -> str:
    """`texts`: those of the lines, with what Markdown has within a line."""
    parts: list[str] = []
    for line, text in zip(lines, texts, strict=True):
        shown = text if line.is_code or line.before else escaped(text)
        parts += ["\n\n" if line.is_apart else "\n", line.before, shown, line.after]
    return "".join(parts).strip("\n")


def escaped(text: str) -> str:
    """The text of a paragraph, so that it is not taken for a heading or a list."""
    if _STARTS_BLOCK.match(text):
        return "\\" + text
    number = _STARTS_NUMBER.match(text)
    return f"{number[1]}\\{text[number.end(1) :]}" if number else text


def _children(node: _Element) -> Iterator[Line]:
    """The lines in an element: loose text and inline elements make paragraphs."""
    loose = [node.text or ""]
    for child in node:
        if child.tag in _INLINE or _is_inline_code(child):
            loose.append(_inline(child))
        else:
            yield from _paragraph("".join(loose))
            yield from _block(child)
            loose = []
        loose.append(child.tail or "")
    yield from _paragraph("".join(loose))


def _block(node: _Element) -> Iterator[Line]:
    tag = node.tag
    if not isinstance(tag, str):
        return
    if level := _level(node):
        yield Line(_tidied(_inline(node)).replace("\n", " "), f"{'#' * level} ")
    elif tag in _LISTS:
        yield from _list(node)
    elif tag in _QUOTES:
        yield from _quote(node)
    elif tag in _CODE:
        yield from _code(node)
    elif tag == "table":
        yield from _table(node)
    else:
        yield from _children(node)


def _is_inline_code(node: _Element) -> bool:
    """Whether code stands within a sentence: there is text beside it in the same line."""
    if node.tag != "code" or "\n" in (node.text or "").strip():
        return False
    previous = node.getprevious()
    before = node.getparent().text if previous is None else previous.tail
    return any(text and text.strip(" \t") and "\n\n" not in text for text in (before, node.tail))


def _level(node: _Element) -> int:
    """The level of a heading; 0 for what is none."""
    match = _HEADING.fullmatch(node.get("rend") or "h2" if node.tag == "head" else node.tag)
    return int(match[1]) if match else 0


def _paragraph(text: str) -> Iterator[Line]:
    lines = _tidied(text).split("\n")
    for number, line in enumerate(lines):
        hard_break = "  " if number < len(lines) - 1 else ""
        yield Line(line, after=hard_break, is_apart=not number)


def _list(node: _Element) -> Iterator[Line]:
    is_ordered = "ol" in (node.tag, node.get("rend"))
    number = 0
    for item in node:
        if item.tag not in _ITEMS:
            continue
        number += 1
        sign = f"{number}. " if is_ordered else "- "
        for place, line in enumerate(line for line in _children(item) if line.text.strip()):
            line.before = (" " * len(sign) if place else sign) + line.before
            line.is_apart = number == 1 and not place
            yield line


def _quote(node: _Element) -> Iterator[Line]:
    for place, line in enumerate(line for line in _children(node) if line.text.strip()):
        if place and line.is_apart:
            line.before, line.is_apart = f">\n> {line.before}", False
        else:
            line.before = f"> {line.before}"
        yield line


def _code(node: _Element) -> Iterator[Line]:
    text = _inline(node).strip("\n")
    fence = "```"
    while fence in text:
        fence += "`"
    yield Line(text, f"{fence}\n", f"\n{fence}", is_code=True)


def _is_layout(cell: _Element) -> bool:
    """Whether a cell holds several paragraphs: then the table is none of data."""
    return sum(len(text.strip()) >= PARAGRAPH for text in cell.itertext()) >= MIN_PARAGRAPHS


def _is_menu(cell: _Element) -> bool:
    """Whether a cell beside paragraphs holds nothing but short texts below each other."""
    sizes = [len(text.strip()) for text in cell.itertext() if text.strip()]
    return len(sizes) >= MIN_PARAGRAPHS and max(sizes) < PARAGRAPH


def _table(node: _Element) -> Iterator[Line]:
    cells = list(node.iter(*_CELLS))
    if any(map(_is_layout, cells)):
        for cell in cells:
            if not _is_menu(cell) and next(cell.iterancestors("table")) is node:
                yield from _children(cell)
        return
    rows = [[_cell(cell) for cell in row.iterchildren(*_CELLS)] for row in node.iter(*_ROWS)]
    rows = [row for row in rows if any(row)]
    width = max(map(len, rows), default=0)
    for number, row in enumerate(rows):
        text = " | ".join(row + [""] * (width - len(row)))
        rule = "\n|" + " --- |" * width if not number else ""
        yield Line(text, "| ", f" |{rule}", is_apart=not number)


def _cell(node: _Element) -> str:
    return _tidied(_inline(node)).replace("\n", " ").replace("|", "/")


def _inline(node: _Element) -> str:
    """All text in an element, with its line breaks."""
    if not isinstance(node.tag, str):
        return ""
    parts = ["\n" if node.tag in _BREAKS else "", node.text or ""]
    for child in node:
        gap = "" if child.tag in _INLINE else "\n"
        parts += [gap, _inline(child), gap, child.tail or ""]
    return "".join(parts)


def _tidied(text: str) -> str:
    return _AROUND_BREAK.sub("\n", _SPACE.sub(" ", text)).strip()
