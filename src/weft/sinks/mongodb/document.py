"""An item as a document, and back.

The document has our bookkeeping in `_id`, `_job`, `_page` and `_fetched_at`, and beside it the
fields of the item, each under its own name. Fields with one of those names go into `_more`. Values
have their JSON form: text, numbers, true, false, null, lists, documents.
"""

from collections.abc import Mapping
from datetime import datetime
from itertools import count
from math import isfinite
from types import NoneType
from typing import Any

import bson
import msgspec
from bson.datetime_ms import DatetimeMS
from bson.dbref import DBRef

from weft.sinks.base import KeyedItem
from weft.sinks.encoding import encode_fields
from weft.sinks.readback import StoredItem

ID, JOB, PAGE, FETCHED_AT, MORE = "_id", "_job", "_page", "_fetched_at", "_more"
_OURS = frozenset({ID, JOB, PAGE, FETCHED_AT, MORE})

#: MongoDB supports a hundred levels; deeper nesting is stored as JSON text.
MAX_DEPTH = 90
_MIN_INT, _MAX_INT = -(2**63), 2**63 - 1
#: The one character that names cannot contain, and its replacement.
_NUL, _NUL_PICTURE = "\0", "\u2400"


def encode_document(item: KeyedItem, job: str) -> bytes:
    """Return the item as BSON."""
    head = {
        ID: item.key.hex(),
        JOB: job,
        PAGE: item.page,
        FETCHED_AT: DatetimeMS(item.fetched_at_ms) if item.fetched_at_ms else None,
    }
    try:
        return bson.encode(head | _apart(_values(item.fields)))
    except (bson.errors.BSONError, UnicodeError):
        # An invalid name, or a lone surrogate.
        head[PAGE] = _like_json(item.page)
        return bson.encode(head | _apart(_careful_values(item.fields)))


def decode_document(document: Mapping[str, Any] | DBRef) -> StoredItem:
    read: dict[str, Any] = _without_references(document)
    fields = {name: value for name, value in read.items() if name not in _OURS}
    more = read.get(MORE)
    return StoredItem(
        key=str(read[ID]),
        job=str(read.get(JOB) or ""),
        page=str(read.get(PAGE) or ""),
        fetched_at_ms=_milliseconds(read.get(FETCHED_AT)),
        fields=fields | more if isinstance(more, dict) else fields,
    )


def _values(fields: Mapping[str, object]) -> dict[str, Any]:
    """Most values of most items are the same in JSON and BSON, and need no conversion."""
    return {
        name: value if type(value) is str or _is_plain(value) else _like_json(value)
        for name, value in fields.items()
    }


def _careful_values(fields: Mapping[str, object]) -> dict[str, Any]:
    values = {str(_like_json(str(name))): _like_json(value) for name, value in fields.items()}
    return {_fitting_name(name, values): value for name, value in values.items()}


def _is_plain(value: Any) -> bool:
    kind = type(value)
    if kind is int:
        return _fits(value)
    if kind is float:
        return isfinite(value)  # NaN and infinity are null in JSON
    return kind is bool or kind is NoneType


def _fits(number: int) -> bool:
    return _MIN_INT <= number <= _MAX_INT


def _like_json(value: object) -> Any:
    """The value as a sink that stores JSON would return it, as far as BSON supports that."""
    data = encode_fields({"": value})[len('{"":') : -len("}")]
    try:
        return _fitting(msgspec.json.decode(data), depth=1)
    except (msgspec.DecodeError, RecursionError):  # invalid `msgspec.Raw`, or nested too deeply
        return data.decode(errors="replace")


def _fitting(value: Any, depth: int) -> Any:
    """Replace what BSON does not support in data from JSON."""
    if isinstance(value, int):
        return value if _fits(value) else str(value)
    if not isinstance(value, dict | list):
        return value
    if depth > MAX_DEPTH:
        return msgspec.json.encode(value).decode()
    if isinstance(value, list):
        return [_fitting(inner, depth + 1) for inner in value]
    return {_fitting_name(name, value): _fitting(inner, depth + 1) for name, inner in value.items()}


def _fitting_name(name: str, taken: Mapping[str, Any]) -> str:
    if _NUL not in name:
        return name
    pictured = name.replace(_NUL, _NUL_PICTURE)
    return next(choice for n in count() if (choice := pictured + _NUL_PICTURE * n) not in taken)


def _apart(fields: dict[str, Any]) -> dict[str, Any]:
    """Move fields with our names into `_more`."""
    if _OURS.isdisjoint(fields):
        return fields
    more = {name: fields.pop(name) for name in list(fields) if name in _OURS}
    return fields | {MORE: more}


def _milliseconds(value: object) -> int:
    if isinstance(value, datetime):
        value = DatetimeMS(value)
    # A DatetimeMS is a time outside the range of `datetime`.
    return int(value) if isinstance(value, DatetimeMS) else 0


def _without_references(value: Any) -> Any:
    """PyMongo turns each document with fields `$ref` and `$id` into a `DBRef`; undo that."""
    if isinstance(value, DBRef):
        value = value.as_doc()
    if isinstance(value, dict):
        return {name: _without_references(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_without_references(inner) for inner in value]
    return value
