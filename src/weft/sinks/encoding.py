"""Items as JSON. Any item can be stored: an unusual value may lose its type, not the item.

Dates become ISO 8601, decimals strings, bytes Base64, NaN null, and values that JSON does not
support their `str()`.
"""

from collections.abc import Mapping

import msgspec

from weft.sinks.base import KeyedItem

#: Deeper nesting (or data that contains itself) is stored as text.
MAX_DEPTH = 100


class KeyedLine(msgspec.Struct, frozen=True):
    """An item as it is written: JSON on one line, without the newline."""

    key: bytes
    data: bytes


def encode_item(item: KeyedItem) -> KeyedLine:
    return KeyedLine(item.key, encode_fields(item.fields))


def encode_fields(fields: Mapping[str, object]) -> bytes:
    """One JSON object in UTF-8, on one line."""
    try:
        data = _ENCODER.encode(fields)
    except Exception:  # raised by msgspec or by a `__str__` of the user; the slow way handles it
        data = _ENCODER.encode(_plain(fields, depth=0))
    return data.replace(b"\n", b" ")  # `msgspec.Raw` may contain newlines between its values


def _text(value: object) -> str:
    try:
        text = str(value)
    except Exception:  # the user's `__str__` is broken
        text = object.__repr__(value)
    return _without_surrogates(text)


def _without_surrogates(text: str) -> str:
    return text.encode(errors="replace").decode()


def _plain(value: object, depth: int) -> object:
    if isinstance(value, str):
        return _without_surrogates(value)
    if depth < MAX_DEPTH and isinstance(value, Mapping):
        return {_text(name): _plain(inner, depth + 1) for name, inner in value.items()}
    if depth < MAX_DEPTH and isinstance(value, list | tuple | set | frozenset):
        return [_plain(inner, depth + 1) for inner in value]
    try:
        return msgspec.Raw(_ENCODER.encode(value))
    except Exception:  # as above
        return _text(value)


_ENCODER = msgspec.json.Encoder(enc_hook=_text)
