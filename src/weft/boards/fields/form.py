"""How rules are written: the types of what stands under `fields:`."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from weft.boards.fields.article import FIELDS, ONLY_ONE, SINGULARS, kind_of
from weft.boards.fields.patterns import pattern, problem_of_pattern
from weft.boards.fields.xpaths import problem_of_css, problem_of_xpath
from weft.yamlfile import Problem

_NAME = r"^[^\W\d][\w-]*$"
_SELECTORS = ("css", "xpath", "regex")


def _check_css(source: str) -> Iterator[Problem]:
    if problem := problem_of_css(source):
        yield Problem(f'{problem}; put that right, or write "xpath: ..." for an XPath')


def _check_xpath(source: str) -> Iterator[Problem]:
    if problem := problem_of_xpath(source):
        yield Problem(f"{problem}; put that right")


def _check_pattern(source: str) -> Iterator[Problem]:
    if problem := problem_of_pattern(source):
        yield Problem(problem)


def _check_name(name: str) -> Iterator[Problem]:
    if not re.search(_NAME, name):
        yield Problem("a field's name begins with a letter, and has letters, digits, _ and - only")


Css = Annotated[
    str,
    Meta(
        description="A CSS selector; ::text and ::attr(name) work as in Scrapy.",
        examples=["h1.headline", "a.author::attr(href)"],
        extra={"check": _check_css},
    ),
]
XPath = Annotated[
    str,
    Meta(
        description="An XPath 1.0 expression.",
        examples=["//span[@itemprop='price']"],
        extra={"check": _check_xpath},
    ),
]
Regex = Annotated[
    str,
    Meta(
        description="A regular expression; its first group is the value, or the whole match.",
        examples=[r"article/(\d+)"],
        extra={"check": _check_pattern},
    ),
]


def _check_replace(pairs: Mapping[str, str]) -> Iterator[Problem]:
    for source, template in pairs.items():
        if problem := pattern(source).problem_of_template(template):
            yield Problem(problem, source)


#: Steps that need no value.
Word = Annotated[
    Literal[
        "text", "html", "strip", "split", "join", "lower", "upper", "unescape", "number", "date",
        "absolute", "first", "last", "all",
    ],
    Meta(description="A step that needs no value."),
]  # fmt: skip


def _text(description: str, min_length: int = 1) -> Meta:
    return Meta(description=description, min_length=min_length)


Attribute = Annotated[str, _text("The value of this attribute of an element.")]
Characters = Annotated[str, _text("Remove these characters from both ends.")]
Separator = Annotated[str, _text("Split at this text.")]
Glue = Annotated[str, _text("Put all values together, with this text between them.", 0)]
Replacements = Annotated[
    dict[Regex, str],
    Meta(
        description=r"Replace what a regular expression matches; \1 is its first group.",
        extra={"check": _check_replace},
    ),
]
DecimalSign = Annotated[
    Literal[",", "."], Meta(description="Read a number with this sign before its decimals.")
]
DateOrder = Annotated[
    Literal["day-first", "month-first"], Meta(description="Read a date: what 05/06/2024 means.")
]
Default = Annotated[str | int | float | bool, Meta(description="The value if nothing was found.")]


class Option(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A step with a value. One of these is set."""

    attr: Attribute | UnsetType = UNSET
    strip: Characters | UnsetType = UNSET
    split: Separator | UnsetType = UNSET
    join: Glue | UnsetType = UNSET
    regex: Regex | UnsetType = UNSET
    replace: Replacements | UnsetType = UNSET
    number: DecimalSign | UnsetType = UNSET
    date: DateOrder | UnsetType = UNSET
    default: Default | UnsetType = UNSET

    @property
    def set_names(self) -> list[str]:
        """The names of the steps that are set: one, if it is valid."""
        names = self.__struct_fields__
        return [name for name in names if getattr(self, name) is not UNSET]


def _check_option(option: Option) -> Iterator[Problem]:
    names = option.set_names
    if len(names) > 1:
        yield Problem(f"{' and '.join(names)} are two steps; begin each with a - of its own")
    elif not names:
        yield Problem("there is no step here; remove it")


Step: TypeAlias = Word | Annotated[Option, Meta(extra={"check": _check_option})]


class Way(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One way to find a field: a selector and steps."""

    css: Css | UnsetType = UNSET
    xpath: XPath | UnsetType = UNSET
    regex: Regex | UnsetType = UNSET
    in_: Annotated[
        Literal["html", "text", "url"],
        Meta(description="Where the regular expression looks: html, unless said otherwise."),
    ] = msgspec.field(name="in", default="html")
    steps: Annotated[
        tuple[Step, ...], Meta(description="What becomes of what was found, in this order.")
    ] = ()


def _check_way(way: Way) -> Iterator[Problem]:
    found = [name for name in _SELECTORS if getattr(way, name) is not UNSET]
    if len(found) > 1:
        yield Problem(
            f"{' and '.join(found)} are two ways; write a list with each in its own entry"
        )
    elif not found:
        yield Problem("there is no selector; add css, xpath or regex")
    if way.in_ != "html" and way.regex is UNSET:
        yield Problem("only a regex looks there; remove it", "in")
    for number, step in enumerate(way.steps):
        if name := _name_of_reader(step):
            yield from _check_reader(name, number, way)


def _check_reader(name: str, number: int, way: Way) -> Iterator[Problem]:
    if way.regex is not UNSET:
        yield Problem(f"{name} is for elements, and a regex finds texts; remove it", "steps")
    elif number:
        yield Problem(f"{name} must be the first step: after it there are texts only", "steps")


def _name_of_reader(step: Any) -> str:
    """Of a step that says what is taken of an element."""
    if isinstance(step, Option):
        return "attr" if step.attr is not UNSET else ""
    return step if step in ("text", "html") else ""


CheckedWay = Annotated[Way, Meta(extra={"check": _check_way})]
Form: TypeAlias = Css | CheckedWay | Annotated[list[Css | CheckedWay], Meta(min_length=1)]


def _check_fields(fields: Mapping[str, Form]) -> Iterator[Problem]:
    for name, form in fields.items():
        meant = SINGULARS.get(name, name)
        if meant != name and meant in fields:
            yield Problem(f"this is the field {meant}, which stands here, too; keep one", name)
        if kind_of(meant) in ONLY_ONE and _has_all(form):
            cure = "leave out the step all, or join its values"
            yield Problem(f"{meant} holds one value; {cure}", name)


def _has_all(form: Any) -> bool:
    if isinstance(form, list):
        return any(map(_has_all, form))
    return isinstance(form, Way) and "all" in form.steps


FieldName = Annotated[
    str,
    Meta(
        description=f"One of {', '.join(FIELDS)}; any other name is a new field.",
        extra_json_schema={"pattern": _NAME},
        extra={"check": _check_name},
    ),
]
#: What stands under `fields:`.
Fields = Annotated[
    dict[FieldName, Form],
    Meta(
        description="Where fields are; a text is a CSS selector, entries of a list are tried in "
        "order.",
        extra={"check": _check_fields},
    ),
]
