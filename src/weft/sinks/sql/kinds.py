"""Which kind of column a value needs, and which kind holds the values of two kinds.

A table accepts any value: a column becomes wider when a value does not fit, and a text column holds
everything. Only columns of JSON, bytes and types unknown to Weft stay as they are.
"""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from enum import Enum, auto


class ColumnKind(Enum):
    BOOL = auto()
    INT = auto()
    FLOAT = auto()
    DECIMAL = auto()
    DATETIME = auto()
    DATE = auto()
    BYTES = auto()
    JSON = auto()
    TEXT = auto()
    #: An unknown type, of a column that we did not create; it is given text.
    OTHER = auto()


#: Integers between this and its negative are exact in a float.
MAX_EXACT_IN_FLOAT = 2**53

_NESTED = (dict, list, tuple, set, frozenset)

#: By exact type, for speed; other types are examined further.
_BY_TYPE: Mapping[type, ColumnKind] = {
    str: ColumnKind.TEXT,
    bool: ColumnKind.BOOL,
    float: ColumnKind.FLOAT,
    Decimal: ColumnKind.DECIMAL,
    datetime: ColumnKind.DATETIME,
    date: ColumnKind.DATE,
    bytes: ColumnKind.BYTES,
    bytearray: ColumnKind.BYTES,
    memoryview: ColumnKind.BYTES,
    **dict.fromkeys(_NESTED, ColumnKind.JSON),
}
#: The order matters: a datetime is also a date.
_BY_BASE: tuple[tuple[type, ColumnKind], ...] = (
    (str, ColumnKind.TEXT),
    (float, ColumnKind.FLOAT),
    (Decimal, ColumnKind.DECIMAL),
    (datetime, ColumnKind.DATETIME),
    (date, ColumnKind.DATE),
    (bytes, ColumnKind.BYTES),
    *((nested, ColumnKind.JSON) for nested in _NESTED),
)

#: From narrow to wide: each can hold the values of those before it.
_NUMBERS = (ColumnKind.BOOL, ColumnKind.INT, ColumnKind.FLOAT)
_NEVER_WIDER = frozenset({ColumnKind.BYTES, ColumnKind.JSON, ColumnKind.OTHER, ColumnKind.TEXT})


def kind_of_value(value: object) -> ColumnKind | None:
    """Return None for an unknown type."""
    if isinstance(value, int) and not isinstance(value, bool):
        return ColumnKind.INT if has_64_bits(value) else ColumnKind.TEXT
    return kind_of_type(type(value))


def has_64_bits(value: int) -> bool:
    """Whether it fits into an integer column."""
    return -(2**63) <= value < 2**63


def kind_of_type(type_: type) -> ColumnKind | None:
    """For the declared type of a field. None: wait for a value."""
    found = _BY_TYPE.get(type_)
    if found is not None:
        return found
    if issubclass(type_, int):
        return ColumnKind.INT
    return next((kind for base, kind in _BY_BASE if issubclass(type_, base)), None)


def wider(column: ColumnKind, value: ColumnKind) -> ColumnKind:
    """The kind that a column needs to hold its values and a new one; `column` if the value already
    fits, or if the column cannot be changed."""
    if column is value or column in _NEVER_WIDER:
        return column
    if column in _NUMBERS and value in _NUMBERS:
        return max(column, value, key=_NUMBERS.index)
    if {column, value} == {ColumnKind.INT, ColumnKind.DECIMAL}:
        return ColumnKind.DECIMAL
    return ColumnKind.TEXT


def both(first: ColumnKind, second: ColumnKind) -> ColumnKind:
    """The kind of a new column for values of two kinds."""
    if first is second:
        return first
    if first in _NEVER_WIDER or second in _NEVER_WIDER:
        return ColumnKind.TEXT
    return wider(first, second)
