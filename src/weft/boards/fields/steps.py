"""The steps that change what a selector found, in the order in which a rule names them.

Each step takes all values and gives all values. Values of white space only are dropped after each.

text · html · attr: NAME      what is taken of an element; only as the first step, `text` if missing
strip · strip: CHARACTERS     without white space, or these characters, at both ends
lower · upper                 in small letters, in capitals
unescape                      `&amp;` is `&`
replace: {REGEX: TEXT, …}     what the expression matches, replaced; `\\1` is its first group
regex: REGEX                  only what the expression matches, or its first group
split · split: TEXT           in several values, at white space or at this text
join · join: TEXT             one value, with a space or this text between the parts
number · number: ","          the first number; with this sign before its decimals
date · date: month-first      an ISO date; 05/06 is the fifth of June, unless it is said here
absolute                      an absolute URL
first · last · all            one of the values, or a list of all
default: VALUE                this, if there is nothing
"""

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice

from weft.boards.fields.article import Value
from weft.boards.fields.form import Option, Step
from weft.boards.fields.numbers import read_number
from weft.boards.fields.patterns import MAX_VALUES, pattern
from weft.boards.fields.source import SearchedPage
from weft.boards.reading.article.datetext import read_date


def run_steps(steps: Iterable[Step], values: Sequence[Value], source: SearchedPage) -> list[Value]:
    """Raises TimeoutError."""
    values = _kept(values)
    for step in steps:
        source.left_s()  # raises TimeoutError
        values = _kept(
            _optional(step, values, source)
            if isinstance(step, Option)
            else _WORDS[step](values, source)
        )
    return values


def _kept(values: Iterable[Value]) -> list[Value]:
    return [value for value in values if not isinstance(value, str) or value.strip()]


def _each(values: Sequence[Value], change: Callable[[str], Value | None]) -> list[Value]:
    """What a change of texts makes of each value; None: nothing."""
    changed = (change(value) if isinstance(value, str) else value for value in values)
    return [value for value in changed if value is not None]


def _parts(values: Sequence[Value], cut: Callable[[str], Iterable[str]]) -> list[Value]:
    """What several parts are made of."""
    parts = (part for value in values for part in cut(str(value)))
    return list(islice(parts, MAX_VALUES))


def _joined(values: Sequence[Value], glue: str) -> list[Value]:
    return [glue.join(map(str, values))] if values else []


def _iso(text: str, *, day_first: bool) -> str | None:
    moment = read_date(text, day_first=day_first)
    return moment.iso if moment else None


def _absolute(text: str, source: SearchedPage) -> str | None:
    return source.page.absolute(text)


_Do = Callable[[Sequence[Value], SearchedPage], list[Value]]
_WORDS: Mapping[str, _Do] = {
    # These two say what is taken of an element, which has been done.
    "text": lambda values, _: list(values),
    "html": lambda values, _: list(values),
    "strip": lambda values, _: _each(values, str.strip),
    "lower": lambda values, _: _each(values, str.lower),
    "upper": lambda values, _: _each(values, str.upper),
    "unescape": lambda values, _: _each(values, html.unescape),
    "split": lambda values, _: _parts(values, str.split),
    "join": lambda values, _: _joined(values, " "),
    "number": lambda values, _: _each(values, read_number),
    "date": lambda values, source: _each(
        values, lambda text: _iso(text, day_first=source.day_first)
    ),
    "absolute": lambda values, source: _each(values, lambda text: _absolute(text, source)),
    "first": lambda values, _: list(values[:1]),
    "last": lambda values, _: list(values[-1:]),
    "all": lambda values, _: list(values),
}


def _optional(option: Option, values: Sequence[Value], source: SearchedPage) -> list[Value]:
    """A step with a value."""
    [name] = option.set_names
    value = getattr(option, name)
    match name:
        case "strip":
            return _each(values, lambda text: text.strip(value))
        case "split":
            return _parts(values, lambda text: text.split(value))
        case "join":
            return _joined(values, value)
        case "regex":
            found = pattern(value)
            return _parts(values, lambda text: found.find(text, source.pattern_s()))
        case "replace":
            return _each(values, lambda text: _replaced(text, value, source))
        case "number":
            return _each(values, lambda text: read_number(text, value))
        case "date":
            is_day_first = value == "day-first"
            return _each(values, lambda text: _iso(text, day_first=is_day_first))
        case "default":
            return list(values) or [value]
        case _:  # attr: what is taken of an element
            return list(values)


def _replaced(text: str, pairs: Mapping[str, str], source: SearchedPage) -> str:
    for expression, template in pairs.items():
        text = pattern(expression).replace(template, text, source.pattern_s())
    return text
