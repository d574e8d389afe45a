"""Conditions on the fields of an item: `price<10`, `author.name~brown`.

A field is named as in the item; a dot leads to a nested field. If a field has several values, such
as a list, one match is enough. Numbers are compared as numbers, even if the item has them as text;
everything else is compared as text. A missing value counts as empty text: `author=` finds the items
without an author.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

import msgspec

from weft.errors import ConfigError

# `==` is not accepted; `=` is meant.
_FORM = re.compile(r"\s*([^=!<>~]*[^=!<>~\s])\s*(!=|<=|>=|[=<>~])(?!=)\s*(.*?)\s*", re.DOTALL)
_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}


class Condition(NamedTuple):
    field: str
    operator: str
    wanted: str

    def holds(self, fields: Mapping[str, Any]) -> bool:
        values = values_of(fields, self.field)
        if self.operator == "!=":
            return not any(_is_equal(value, self.wanted) for value in values)
        return any(self._fits(value) for value in values)

    def _fits(self, value: Any) -> bool:
        if self.operator == "=":
            return _is_equal(value, self.wanted)
        if value is None:
            return False
        if self.operator == "~":
            return self.wanted.casefold() in text_of(value).casefold()
        return _COMPARISONS[self.operator](*_comparable(value, self.wanted))


def parse_condition(text: str) -> Condition:
    """Raises ConfigError."""
    if form := _FORM.fullmatch(text):
        return Condition(*form.groups())
    raise ConfigError(
        f"{text!r} is not a condition; write field=value, field!=value, field<value, field<=value, "
        "field>value, field>=value, or field~text for a field that contains the text; name a field "
        "inside another like author.name"
    )


def values_of(fields: Mapping[str, Any], field: str) -> Iterator[Any]:
    """Yield the values of a field, those of a list one by one; None if it is missing."""
    if field in fields:
        yield from _each(fields[field])
        return
    # A name may contain dots itself.
    ends = [
        index for index, letter in enumerate(field) if letter == "." and field[:index] in fields
    ]
    if not ends:
        yield None
    for end in ends:
        for inner in _each(fields[field[:end]]):
            yield from values_of(inner if isinstance(inner, Mapping) else {}, field[end + 1 :])


def _each(value: Any) -> Iterator[Any]:
    if isinstance(value, list) and value:
        for element in value:
            yield from _each(element)
    else:
        yield None if value == [] else value


def text_of(value: Any) -> str:
    """A value as readable text; anything but text and numbers is JSON."""
    plain = _plain(value)
    if plain is None:
        return ""
    return plain if isinstance(plain, str) else msgspec.json.encode(plain).decode()


def _plain(value: Any) -> Any:
    """As in JSON: dates, decimals and the like, which a database may return, become text."""
    if isinstance(value, str):
        return value
    return msgspec.to_builtins(value, str_keys=True, enc_hook=str)


def _is_equal(value: Any, wanted: str) -> bool:
    one, other = _comparable(value, wanted)
    return bool(one == other)


def _comparable(value: Any, wanted: str) -> tuple[Any, Any]:
    """Both as numbers, or else both as text."""
    one, other = _number(value), _number(wanted)
    if one is None or other is None:
        return text_of(value), wanted
    return one, other


def _number(value: Any) -> Decimal | None:
    """Exact, because an article number may be longer than a float can hold."""
    plain = _plain(value)
    if isinstance(plain, bool) or not isinstance(plain, int | float | str):
        return None
    try:
        number = Decimal(str(plain))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
