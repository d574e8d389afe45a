"""Which addresses of a site are alike: pages with such addresses are mostly of one kind.

The narrow shape of an address keeps the words of its path, but for the last: `/tag/ferry/` and
`/tag/harbour/` are alike, `/section/harbour/` is not. The wide one keeps none.
"""

import re
from typing import NamedTuple, Self

from weft.boards.reading.shapes import LONGEST_WORD

#: Longer paths are known by how they begin.
_DEEP = 6
_BEGINNING = 3
#: More names of parameters do not make shapes of their own.
_FEW_NAMES = 3

#: Parts such as `index_2.html` and `c1001-3`: a word of its own kind, and numbers.
_NUMBERED = re.compile(r"([a-z]{1,8})[-_]?\d+(?:[-_]\d+)*(?:\.[a-z]+\d?)?", re.IGNORECASE)
_DIGIT = re.compile(r"\d")


class Address(NamedTuple):
    """An absolute URL, taken apart."""

    host: str
    #: Without the slash at its beginning.
    path: str
    query: str

    @classmethod
    def of(cls, url: str) -> Self:
        address, _, query = url.partition("//")[2].partition("?")
        host, _, path = address.partition("/")
        return cls(host, path, query)

    @property
    def parts(self) -> list[str]:
        return [part for part in self.path.split("/") if part]


def narrow_shape(address: Address) -> str:
    return f"{address.host}/{_narrow(address.parts, _names(address.query))}"


def wide_shape(address: Address) -> str:
    kinds = "".join([_kind(part) or "w" for part in address.parts[:_DEEP]])
    return f"{_site(address.host)}/{kinds}{'?' if address.query else ''}"


def _names(query: str) -> list[str]:
    return sorted({pair.partition("=")[0] for pair in query.split("&")}) if query else []


def _narrow(parts: list[str], names: list[str]) -> str:
    if len(parts) > _DEEP:
        return "/".join(parts[:_BEGINNING]) + "/…"
    # A script says what it is by its name, a page of a list only what it is about.
    kept = len(parts) if names else len(parts) - 1
    shape = "/".join([_word(part) or _kind(part) or part for part in parts[:kept]])
    shape += "".join(["/" + (_word(part) or _kind(part) or "w") for part in parts[kept:]])
    if not names:
        return shape
    return f"{shape}?{','.join(names) if len(names) <= _FEW_NAMES else '…'}"


def _word(part: str) -> str:
    """The word before the numbers; empty if it is no such part."""
    match = _NUMBERED.fullmatch(part)
    return f"{match[1]}0" if match else ""


def _kind(part: str) -> str:
    """N for a number, S for a slug, D for what has digits; empty for a word."""
    if part.isdigit():
        return "N"
    if len(part) > LONGEST_WORD or part.count("-") + part.count("_") > 1 or "%" in part:
        return "S"
    return "D" if _DIGIT.search(part) else ""


def _site(host: str) -> str:
    """A host without the names that a site can have any number of."""
    labels = host.split(".")
    is_of_country = len(labels[-1]) == 2 and len(labels) > 2 and len(labels[-2]) <= 3
    return ".".join(labels[-3:] if is_of_country else labels[-2:])
