"""Reads what is almost XML.

Whatever looks like a tag is one. An end ends the innermost element of its name, with all in it; one
that ends nothing is ignored. What else begins with `<` or `&` is text.
"""

import re
from collections import Counter
from collections.abc import Iterator
from html import unescape

from weft.boards.feeds.records import PREFIXES, XML_BASE, RecordLayout, RecordTarget

#: How many tags are read before records are asked for.
STEP = 1_000

_NAME = r"[A-Za-z_][\w.:-]*+"
_TOKEN = re.compile(
    r"<!\[CDATA\[(?P<cdata>.*?)(?:\]\]>|\Z)"
    r"|<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)"
    rf"|</(?P<end>{_NAME})[^<>]*+>"
    rf"|<(?P<start>{_NAME})(?P<attributes>(?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+'|[\"'])*+)>"
    r"|(?P<text>[^<]++|<)",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(
    rf"({_NAME})\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'>][^\s>]*+))", re.DOTALL
)
#: With the semicolon: `&copy=` is part of a URL.
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][A-Za-z\d]{1,31});")
_SPACES = {prefix: space for space, prefix in PREFIXES.items() if prefix}


def read_loosely(
    text: str, start: int, layout: RecordLayout, target: RecordTarget
) -> Iterator[None]:
    """Report a file from its root on; yields now and then, to let the records be taken."""
    reader = _LooseReader(layout, target)
    for number, token in enumerate(_TOKEN.finditer(text, start)):
        reader.take(token)
        if number % STEP == 0:
            yield
    target.close()
    yield


class _LooseReader:
    def __init__(self, layout: RecordLayout, target: RecordTarget) -> None:
        self._target = target
        self._records = layout.records
        self._parts = frozenset(path.rpartition("/")[2] for path in layout.parts)
        #: The names of the open elements, and how often each is open.
        self._open: list[str] = []
        self._numbers: Counter[str] = Counter()
        #: The last open part, which contains no other.
        self._part = ""
        self._own_prefix: str | None = None

    def take(self, token: re.Match[str]) -> None:
        kind = token.lastgroup
        if kind == "text":
            self._target.data(_unescaped(token["text"]))
        elif kind == "cdata":
            self._target.data(token["cdata"])
        elif kind == "end":
            self._end(self._named(token["end"]))
        elif kind == "attributes":
            self._start(self._named(token["start"]), token["attributes"])

    def _start(self, name: str, written: str) -> None:
        if name in self._records:
            self._end(name)
        if name in self._parts and self._part:
            self._end(self._part)
        self._target.start(_tag(name), _attributes(written))
        self._open.append(name)
        self._numbers[name] += 1
        if name in self._parts:
            self._part = name
        if written.endswith("/"):
            self._end(name)

    def _end(self, name: str) -> None:
        if not self._numbers[name]:
            del self._numbers[name]
            return
        ended = ""
        while ended != name:
            ended = self._open.pop()
            self._numbers[ended] -= 1
            self._target.end(ended)
            if ended == self._part:
                self._part = ""

    def _named(self, name: str) -> str:
        """In lower case, and without the prefix that the root has."""
        prefix, _, local = name.lower().rpartition(":")
        if self._own_prefix is None:
            self._own_prefix = prefix
        return local if prefix == self._own_prefix else name.lower()


def _tag(name: str) -> str:
    """As lxml writes it."""
    prefix, _, local = name.rpartition(":")
    return f"{{{_SPACES.get(prefix, prefix)}}}{local}" if prefix else local


def _attributes(written: str) -> dict[str, str]:
    found = {}
    for name, *values in _ATTRIBUTE.findall(written) if "=" in written else ():
        found[XML_BASE if name == "xml:base" else name] = _unescaped("".join(values))
    return found


def _unescaped(text: str) -> str:
    return _ENTITY.sub(lambda entity: unescape(entity[0]), text) if "&" in text else text
