"""Reads Scrapy's settings one by one and collects what is wrong with them.

An unreadable value is replaced by a valid one, so that the rest can still be read.
"""

import math
from collections.abc import Callable
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar

from scrapy.settings import BaseSettings

Value = TypeVar("Value")
Choice = TypeVar("Choice", bound=StrEnum)

#: Larger numbers are mistakes.
MAX_NUMBER = 1e9


class Bounds(NamedTuple):
    """Which numbers are valid."""

    #: For people.
    text: str
    hold: Callable[[float], bool]
    #: A valid number.
    otherwise: float


def at_least(least: float) -> Bounds:
    return Bounds(f"{least:g} or more", lambda value: least <= value, least)


NOT_NEGATIVE = at_least(0.0)
#: A part of a whole.
SHARE = Bounds("more than 0 and less than 1", lambda value: 0 < value < 1, 0.5)


class SettingsReader:
    def __init__(self, settings: BaseSettings) -> None:
        self._settings = settings
        self.problems: list[str] = []

    def text(self, name: str) -> str:
        return str(self._settings.get(name) or "")

    def flag(self, name: str) -> bool:
        return self._read(self._settings.getbool, name, False)

    def names(self, name: str) -> tuple[str, ...]:
        return tuple(str(value) for value in self._read(self._settings.getlist, name, list[Any]()))

    def choice(self, name: str, choices: type[Choice]) -> Choice:
        value = self._settings.get(name)
        try:
            return choices(value)
        except ValueError:
            self.problems.append(f"{name} is {value!r}; choose one of {', '.join(choices)}")
            return next(iter(choices))

    def choices(self, name: str, choices: type[Choice]) -> frozenset[Choice]:
        values = self.names(name)
        if unknown := [value for value in values if value not in tuple(choices)]:
            problem = f"{name} names {', '.join(unknown)}; choose from {', '.join(choices)}"
            self.problems.append(problem)
        return frozenset(choices(value) for value in values if value not in unknown)

    def number(self, name: str, bounds: Bounds = NOT_NEGATIVE) -> float:
        try:
            value = self._settings.getfloat(name)
        except (TypeError, ValueError):
            value = math.nan
        if bounds.hold(value) and value < MAX_NUMBER:
            return value
        self.problems.append(
            f"{name} is {self._settings.get(name)!r}; it must be a number, {bounds.text}"
        )
        return bounds.otherwise

    def whole(self, name: str, most: int | None = None) -> int:
        """A whole number, 1 or more."""
        value = self._settings.get(name)
        try:
            number = int(value)
        except (OverflowError, TypeError, ValueError):
            number = 0
        # Reject 2.5 and True, but accept a string: the command line passes strings.
        is_whole = isinstance(value, str) or (number == value and not isinstance(value, bool))
        if is_whole and 1 <= number <= (most or math.inf):
            return number
        bounds = f"from 1 to {most}" if most else "1 or more"
        self.problems.append(f"{name} is {value!r}; it must be a whole number, {bounds}")
        return 1

    def _read(self, getter: Callable[[str], Value], name: str, otherwise: Value) -> Value:
        """Read a setting with one of Scrapy's getters, which raise on a bad value."""
        try:
            return getter(name)
        except (TypeError, ValueError) as problem:
            self.problems.append(f"{name} cannot be read: {problem}")
            return otherwise
