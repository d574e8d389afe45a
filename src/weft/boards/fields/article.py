"""The fields of an article: what they hold, and how values that rules found become that."""

from collections.abc import Callable, Iterable, Sequence
from enum import Enum, auto
from typing import Any, TypeAlias

from weft.boards.fields.texts import address_of, text_of, time_of
from weft.boards.reading.article.datetext import read_date
from weft.boards.reading.page import Page, clean

#: What steps work on.
Value: TypeAlias = str | int | float | bool
#: What becomes of a field.
FieldValue: TypeAlias = Value | list[Value] | tuple[str, ...]


class FieldKind(Enum):
    """What a field holds."""

    #: A text of one line.
    LINE = auto()
    #: A text, a line for each paragraph.
    TEXT = auto()
    DATE = auto()
    URL = auto()
    LINES = auto()
    URLS = auto()
    #: Of a field that the user invented: whatever the steps give.
    ANY = auto()


FIELDS = {
    "title": FieldKind.LINE,
    "authors": FieldKind.LINES,
    "published": FieldKind.DATE,
    "modified": FieldKind.DATE,
    "body": FieldKind.TEXT,
    "markdown": FieldKind.TEXT,
    "description": FieldKind.LINE,
    "language": FieldKind.LINE,
    "images": FieldKind.URLS,
    "tags": FieldKind.LINES,
    "site_name": FieldKind.LINE,
    "canonical_url": FieldKind.URL,
}
#: What people write for a field that is a list, if they find one.
SINGULARS = {"author": "authors", "image": "images", "tag": "tags"}
#: Fields of which there is one; texts are put together from all that was found.
ONLY_ONE = (FieldKind.LINE, FieldKind.DATE, FieldKind.URL, FieldKind.TEXT)


def kind_of(name: str) -> FieldKind:
    return FIELDS.get(name, FieldKind.ANY)


def reader_of(name: str) -> Callable[[Any], str]:
    """How an element is read for this field, if no step says it."""
    kind = kind_of(name)
    if kind in (FieldKind.URL, FieldKind.URLS):
        return address_of
    return time_of if kind is FieldKind.DATE else text_of


def as_field(
    name: str, values: Sequence[Value], page: Page, *, wants_all: bool, day_first: bool
) -> FieldValue | None:
    """The values as the field holds them; None if there is nothing in them."""
    kind = kind_of(name)
    if kind is FieldKind.ANY:
        return _as_any(values, wants_all)
    texts = [str(value) for value in values]
    match kind:
        case FieldKind.LINE:
            return next((line for text in texts if (line := clean(text))), None)
        case FieldKind.TEXT:
            return "\n".join(texts).strip() or None
        case FieldKind.DATE:
            return _date(texts, day_first)
        case FieldKind.URL:
            return next(iter(_urls(texts, page)), None)
        case FieldKind.LINES:
            return tuple(dict.fromkeys(line for text in texts if (line := clean(text)))) or None
        case FieldKind.URLS:
            return tuple(dict.fromkeys(_urls(texts, page))) or None


def _as_any(values: Sequence[Value], wants_all: bool) -> FieldValue | None:
    if not values:
        return None
    return list(values) if wants_all else values[0]


def _date(texts: Iterable[str], day_first: bool) -> str | None:
    moments = (read_date(text, day_first=day_first) for text in texts)
    return next((moment.iso for moment in moments if moment), None)


def _urls(texts: Iterable[str], page: Page) -> list[str]:
    # An empty address would be that of the page itself.
    return [url for text in texts if text.strip() and (url := page.absolute(text))]
