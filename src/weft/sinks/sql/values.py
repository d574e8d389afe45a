"""How a value is written to a column of a kind, and how it is read back.

Any item can be stored: dates in UTC (those without a zone count as UTC), NaN as NULL, and values
that have no text form as JSON.
"""

import math
import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Context, Decimal, Inexact, InvalidOperation
from typing import Final

import msgspec

from weft.sinks.encoding import encode_fields
from weft.sinks.sql.kinds import MAX_EXACT_IN_FLOAT, ColumnKind, has_64_bits, kind_of_value


class Misfit:
    """Marks a value that does not fit into a column of this kind."""


MISFIT: Final = Misfit()

REPLACEMENT = "\ufffd"
#: Rounds nothing.
_EXACT = Context(prec=1000, traps=[Inexact, InvalidOperation])


class Forms(msgspec.Struct, frozen=True):
    """What differs between databases."""

    #: Whether text may contain NUL characters; if not, they are replaced.
    has_nul: bool = True
    #: The database rejects JSON that is nested deeper.
    max_json_depth: int = 1000
    #: Digits before and after the point of an exact decimal; (0, 0): not supported.
    decimal_digits: tuple[int, int] = (0, 0)
    #: Whether the driver uses text for dates.
    has_text_dates: bool = False
    #: Whether datetimes have a time zone, UTC.
    has_zones: bool = False


def kind_for(value: object, forms: Forms) -> ColumnKind:
    """The kind of column for a new field with this value."""
    kind = kind_of_value(value)
    if kind is None:
        return ColumnKind.JSON if _json(value)[:1] in "[{" else ColumnKind.TEXT
    if kind is ColumnKind.DECIMAL and written(kind, value, forms) is MISFIT:
        return ColumnKind.TEXT
    return kind


def written(kind: ColumnKind, value: object, forms: Forms) -> object:
    """The value as the driver takes it for a column of this kind, None for NULL, or MISFIT."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Decimal) and not value.is_finite():
        return None
    return _WRITERS[kind](value, forms)


def read_back(kind: ColumnKind, value: object, forms: Forms) -> object:
    """Return what `written` was given, as far as the column keeps it."""
    if isinstance(value, str):
        return _read_text(kind, value)
    if kind is ColumnKind.BOOL:
        return bool(value)
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    if isinstance(value, Decimal) and not forms.has_zones:
        return _shortest(value)
    return value


def instant(at_ms: int, forms: Forms) -> object:
    """A time for a datetime column; 0 means unknown and is NULL."""
    if not at_ms:
        return None
    return written(ColumnKind.DATETIME, datetime.fromtimestamp(at_ms / 1000, UTC), forms)


def instant_ms(value: object, forms: Forms) -> int:
    at = read_back(ColumnKind.DATETIME, value, forms)
    return round(at.timestamp() * 1000) if isinstance(at, datetime) else 0


def without_nul_escapes(text: str, forms: Forms) -> str:
    """JSON in a form that a column accepts."""
    return text if forms.has_nul or "\\u0000" not in text else _ESCAPES.sub(_without_nul, text)


def json_depth(text: str) -> int:
    """How deep JSON is nested."""
    depth = deepest = 0
    for sign in _BRACKETS.findall(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(sign, 0)
        deepest = max(deepest, depth)
    return deepest


def literal_bytes(value: object) -> int:
    """The maximum length of the value as a literal in a MySQL statement."""
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        return len(value) + sum(map(value.count, _ESCAPED_IN_MYSQL)) + len("_binary'',")
    return 100


_ESCAPED_IN_MYSQL = (b"\0", b"\n", b"\r", b"\\", b"'", b'"', b"\x1a")
_ESCAPES = re.compile(r"\\(?:u0000|.)")
#: Matches a whole string, so that brackets in it do not count.
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]')


def _without_nul(escape: re.Match[str]) -> str:
    return REPLACEMENT if escape[0] == "\\u0000" else escape[0]


def _json(value: object) -> str:
    return encode_fields({"": value})[len('{"":') : -1].decode()


def _write_text(value: object, forms: Forms) -> object:
    text = str.__str__(value) if isinstance(value, str) else _text_of(value)
    if text is None:
        return None
    if not text.isascii():
        text = _without_surrogates(text)
    return text if forms.has_nul or "\0" not in text else text.replace("\0", REPLACEMENT)


def _text_of(value: object) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(int(value))  # JSON cannot represent those above 64 bits
    text = _json(value)
    if text.startswith('"'):
        return str(msgspec.json.decode(text))
    return None if text == "null" else text


def _without_surrogates(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="replace").decode()
    return text


def _read_text(kind: ColumnKind, text: str) -> object:
    if kind is ColumnKind.JSON:
        return msgspec.json.decode(text)
    if kind is ColumnKind.DATETIME:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    return date.fromisoformat(text) if kind is ColumnKind.DATE else text


def _shortest(value: Decimal) -> Decimal:
    """Without the trailing zeros that a column with a fixed number of digits adds."""
    short = value.normalize(_EXACT)
    return (
        short.quantize(Decimal(1), context=_EXACT) if short == short.to_integral_value() else short
    )


def _write_bool(value: object, _: Forms) -> object:
    return value if isinstance(value, bool) else MISFIT


def _write_int(value: object, _: Forms) -> object:
    return int(value) if isinstance(value, int) and has_64_bits(value) else MISFIT


def _write_float(value: object, _: Forms) -> object:
    if isinstance(value, int) and abs(value) <= MAX_EXACT_IN_FLOAT:
        return float(value)
    return float(value) if isinstance(value, float) else MISFIT


def _write_decimal(value: object, forms: Forms) -> object:
    if isinstance(value, float):
        value = repr(float(value))
    elif not isinstance(value, int | Decimal):
        return MISFIT
    exact = Decimal(value)
    return exact if _has_room(exact, *forms.decimal_digits) else MISFIT


def _has_room(value: Decimal, before: int, after: int) -> bool:
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)  # it is finite
    if exponent < -after:  # trailing zeros need no room
        try:
            value = value.quantize(Decimal(1).scaleb(-after), context=_EXACT)
        except (Inexact, InvalidOperation):
            return False
    return value.adjusted() < before


def _write_datetime(value: object, forms: Forms) -> object:
    if not isinstance(value, datetime):
        return MISFIT
    try:
        utc = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except (OverflowError, ValueError):  # before the first year or after the last
        return MISFIT
    if forms.has_zones:
        return utc
    return utc.replace(tzinfo=None).isoformat(sep=" ", timespec="microseconds")


def _write_date(value: object, forms: Forms) -> object:
    if not isinstance(value, date) or isinstance(value, datetime):
        return MISFIT
    return value.isoformat() if forms.has_text_dates else value


def _write_bytes(value: object, _: Forms) -> object:
    return bytes(value) if isinstance(value, bytes | bytearray | memoryview) else MISFIT


def _write_json(value: object, forms: Forms) -> object:
    text = without_nul_escapes(_json(value), forms)
    brackets = text.count("[") + text.count("{")
    if brackets > forms.max_json_depth and json_depth(text) > forms.max_json_depth:
        return MISFIT
    return None if text == "null" else text


_WRITERS: dict[ColumnKind, Callable[[object, Forms], object]] = {
    ColumnKind.BOOL: _write_bool,
    ColumnKind.INT: _write_int,
    ColumnKind.FLOAT: _write_float,
    ColumnKind.DECIMAL: _write_decimal,
    ColumnKind.DATETIME: _write_datetime,
    ColumnKind.DATE: _write_date,
    ColumnKind.BYTES: _write_bytes,
    ColumnKind.JSON: _write_json,
    ColumnKind.TEXT: _write_text,
    ColumnKind.OTHER: _write_text,
}
