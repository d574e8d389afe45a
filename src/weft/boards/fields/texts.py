"""The text of elements, as a reader sees it."""

import re
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

#: Elements that go on in the line in which they stand. All others begin a new one.
_INLINE = frozenset(
    (
        "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn",
        "em", "font", "i", "img", "ins", "kbd", "label", "mark", "nobr", "q", "rp", "rt", "ruby",
        "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "td", "th", "time", "tt",
        "u", "var", "wbr",
    )
)  # fmt: skip
_UNSEEN = frozenset(("script", "style", "noscript", "template", "head", "title"))
_SPACES = re.compile(r"\s+")
_EVENTS = ("start", "end", "comment", "pi")
#: Elements with a value that is not their text: which attribute has it.
_VALUES = {"meta": "content", "input": "value", "data": "value"}
_ADDRESSES = ("data-src", "data-original", "data-lazy-src", "src", "href", "content")
_TIMES = ("datetime", "content")


def text_of(element: Any) -> str:
    """A line for each paragraph; for `meta` and the like, the value that they have."""
    if not isinstance(element.tag, str):
        return str(element.text or "").strip()
    if name := _VALUES.get(element.tag):
        return str(element.get(name) or "")
    lines = "".join(_pieces(element)).split("\n")
    return "\n".join(line for text in lines if (line := _SPACES.sub(" ", text).strip()))


def _pieces(element: Any) -> list[str]:
    """White space of the page is a space; a line feed is the end of a line."""
    pieces: list[str] = []
    walk = etree.iterwalk(element, events=_EVENTS)
    for event, node in walk:
        if event == "start":
            if node.tag in _UNSEEN and node is not element:
                walk.skip_subtree()
            else:
                pieces.append(_edge(node.tag))
                pieces.append(_spaced(node.text))
        elif node is not element:
            # Comments are no elements, but the text after them belongs to them all the same.
            pieces.append(_edge(node.tag) if event == "end" else "")
            pieces.append(_spaced(node.tail))
    return pieces


def _edge(tag: str) -> str:
    if tag in ("td", "th"):
        return " "
    return "" if tag in _INLINE or tag in _UNSEEN else "\n"


def _spaced(text: str | None) -> str:
    return _SPACES.sub(" ", text) if text else ""


def address_of(element: Any) -> str:
    """Where a link or picture leads."""
    return _attribute_of(element, _ADDRESSES) or text_of(element)


def time_of(element: Any) -> str:
    """What an element tells machines about a time, or else its text."""
    return _attribute_of(element, _TIMES) or text_of(element)


def html_of(element: Any) -> str:
    return str(etree.tostring(element, encoding="unicode", method="html", with_tail=False))


def _attribute_of(element: Any, names: tuple[str, ...]) -> str:
    if not isinstance(element.tag, str):
        return ""
    return next((str(value) for name in names if (value := element.get(name))), "")
