"""Which kind of column a value needs, and what kind holds what two kinds hold.

A table is open to any value: a column becomes wider when a value does not fit, and a column of text
takes everything. Only columns of JSON, bytes and of types that Weft does not know stay as they are.
"""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from enum import Enum, auto


class Kind(Enum):
    BOOL = auto()
    INT = auto()
    FLOAT = auto()
    DECIMAL = auto()
    DATETIME = auto()
    DATE = auto()
    BYTES = auto()
    JSON = auto()
    TEXT = auto()
    #: A type of somebody else's column; it is given text.
    OTHER = auto()


#: Whole numbers between this and its negative are exact in a float.
MAX_EXACT_IN_FLOAT = 2**53

_NESTED = (dict, list, tuple, set, frozenset)

#: By exact type, for speed; what is not here is looked at more closely.
_BY_TYPE: Mapping[type, Kind] = {
    str: Kind.TEXT,
    bool: Kind.BOOL,
    float: Kind.FLOAT,
    Decimal: Kind.DECIMAL,
    datetime: Kind.DATETIME,
    date: Kind.DATE,
    bytes: Kind.BYTES,
    bytearray: Kind.BYTES,
    memoryview: Kind.BYTES,
    **dict.fromkeys(_NESTED, Kind.JSON),
}
#: A datetime is a date too, so the order matters.
_BY_BASE: tuple[tuple[type, Kind], ...] = (
    (str, Kind.TEXT),
    (float, Kind.FLOAT),
    (Decimal, Kind.DECIMAL),
    (datetime, Kind.DATETIME),
    (date, Kind.DATE),
    (bytes, Kind.BYTES),
    *((nested, Kind.JSON) for nested in _NESTED),
)

#: From narrow to wide: each holds what the ones before it hold.
_NUMBERS = (Kind.BOOL, Kind.INT, Kind.FLOAT)
_NEVER_WIDER = frozenset({Kind.BYTES, Kind.JSON, Kind.OTHER, Kind.TEXT})


def kind_of_value(value: object) -> Kind | None:
    """None: it is of no type that we know."""
    if isinstance(value, int) and not isinstance(value, bool):
        return Kind.INT if has_64_bits(value) else Kind.TEXT
    return kind_of_type(type(value))


def has_64_bits(value: int) -> bool:
    """Whether it fits into a column of whole numbers."""
    return -(2**63) <= value < 2**63


def kind_of_type(type_: type) -> Kind | None:
    """For the declared type of a field. None: wait for a value."""
    found = _BY_TYPE.get(type_)
    if found is not None:
        return found
    if issubclass(type_, int):
        return Kind.INT
    return next((kind for base, kind in _BY_BASE if issubclass(type_, base)), None)


def wider(column: Kind, value: Kind) -> Kind:
    """The kind that a column needs to hold what it held and a value too; `column` if it takes the
    value as it is, or cannot be changed."""
    if column is value or column in _NEVER_WIDER:
        return column
    if column in _NUMBERS and value in _NUMBERS:
        return max(column, value, key=_NUMBERS.index)
    if {column, value} == {Kind.INT, Kind.DECIMAL}:
        return Kind.DECIMAL
    return Kind.TEXT


def both(first: Kind, second: Kind) -> Kind:
    """The kind of a new column for values of two kinds."""
    if first is second:
        return first
    if first in _NEVER_WIDER or second in _NEVER_WIDER:
        return Kind.TEXT
    return wider(first, second)
