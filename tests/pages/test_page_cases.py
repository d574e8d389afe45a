"""Pages of our own, each with one difficulty of real ones, read as a careful reader reads them.

A folder is a case: `page.html` holds the bytes as a server would send them, and `expected.json`
what the page says: only the fields that the case is about or that nobody would doubt. Its `why`
names the difficulty. Lists are compared in order; `…_has` and `…_lacks` are pieces of a text, and
`…_lines` whole lines of it.
"""

import re
from collections.abc import Callable, Iterator
from datetime import date
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec
import pytest
from msgspec import UNSET, UnsetType

from weft.boards.reading.reading import Article, Reading, ReadOptions, read

CASES = Path(__file__).parent
#: The day at which all pages were fetched; none of them is younger.
TODAY = date(2025, 6, 30)
_SPACE = re.compile(r"\s+")

Texts = list[str] | UnsetType
Line = str | UnsetType


class Expected(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What `expected.json` may say; what is absent is not looked at."""

    #: The difficulty.
    why: str
    url: str
    #: What the HTTP header says about the encoding.
    header_charset: str | None = None
    encoding: Line = UNSET
    kind: Literal["data", "nav"]
    title: Line = UNSET
    authors: Texts = UNSET
    #: Empty if the page tells no day.
    published: Line = UNSET
    modified: Line = UNSET
    language: Line = UNSET
    body_has: Texts = UNSET
    body_lacks: Texts = UNSET
    body_lines: Texts = UNSET
    markdown_has: Texts = UNSET
    markdown_lacks: Texts = UNSET
    images: Texts = UNSET
    #: The topic links.
    links: Texts = UNSET
    #: The next page; None if there is none.
    next: str | UnsetType | None = UNSET
    feeds: Texts = UNSET
    canonical_url: Line = UNSET
    tags: Texts = UNSET
    site_name: Line = UNSET
    #: Fields that Weft does not read right yet, each with the reason.
    known: dict[str, str] = {}


#: Fields that tell how to read the page, not what it says.
_GIVEN = {"why", "url", "header_charset", "known"}
#: Fields of the page; all others are those of the article.
_OF_PAGE: dict[str, Callable[[Reading], object]] = {
    "encoding": lambda reading: reading.encoding,
    "kind": lambda reading: reading.kind,
    "links": lambda reading: [link.url for link in reading.links],
    "next": lambda reading: next(iter(reading.next), None),
    "feeds": lambda reading: list(reading.feeds),
}


@cache
def expected_of(case: str) -> Expected:
    return msgspec.json.decode((CASES / case / "expected.json").read_bytes(), type=Expected)


@cache
def reading_of(case: str) -> Reading:
    expected = expected_of(case)
    return read(
        (CASES / case / "page.html").read_bytes(),
        expected.url,
        expected.header_charset,
        today=TODAY,
        # A wrong kind is one failure, not one for each field of the article.
        options=ReadOptions(seconds=60, is_article=expected.kind == "data"),
    )


def fields() -> Iterator[object]:
    """Each case with each of its fields."""
    for path in sorted(CASES.glob("*/expected.json")):
        case = path.parent.name
        for field in Expected.__struct_fields__:
            if field not in _GIVEN and getattr(expected_of(case), field) is not UNSET:
                reason = expected_of(case).known.get(field)
                marks = [pytest.mark.xfail(reason=reason)] if reason else []
                yield pytest.param(case, field, id=f"{case}: {field}", marks=marks)


@pytest.mark.parametrize(("case", "field"), list(fields()))
def test_page_is_read_as_a_careful_reader_reads_it(case: str, field: str) -> None:
    expected = expected_of(case)
    reading = reading_of(case)
    value = getattr(expected, field)
    if field in _OF_PAGE:
        found = _OF_PAGE[field](reading)
        assert found == value, expected.why
    else:
        assert reading.article is not None, reading.judgement
        _check_article(reading.article, field, value, expected.why)


def _check_article(article: Article, field: str, expected: str | list[str], why: str) -> None:
    name, _, part = field.partition("_")
    if part not in ("has", "lacks", "lines"):
        found = getattr(article, field)
        assert (list(found) if isinstance(found, tuple) else found) == expected, why
        return
    text = getattr(article, name)
    inside = set(map(_one_line, text.splitlines())) if part == "lines" else _one_line(text)
    wrong = [piece for piece in expected if (piece in inside) == (part == "lacks")]
    assert wrong == [], f"{why}\n\n{text}"


def _one_line(text: str) -> str:
    """With single spaces, whatever parted its words."""
    return _SPACE.sub(" ", text).strip()
