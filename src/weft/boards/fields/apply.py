"""Uses rules on a page."""

from typing import Any

import msgspec
from lxml import etree  # type: ignore[import-untyped]

from weft.boards.fields.article import FIELDS, FieldValue, as_field, reader_of
from weft.boards.fields.background import runs_within
from weft.boards.fields.rules import FieldRule, FieldRules
from weft.boards.fields.source import MAX_TAGS, SearchedPage, TooLargeError, select
from weft.boards.fields.steps import run_steps
from weft.boards.reading.page import Page

#: The time that all rules together may take on a page.
DEFAULT_SECONDS = 0.5
_TOO_LATE = "searching for it took too long: make its selector or regex simpler"
#: What keeps a rule from finding anything on a page.
_PROBLEMS = (TimeoutError, TooLargeError, etree.XPathError)


class FoundFields(msgspec.Struct, frozen=True):
    """What rules found on a page."""

    #: By name, as the article has them; new fields are in `extra`.
    values: dict[str, Any] = {}
    #: The names of rules that found nothing.
    unmatched: tuple[str, ...] = ()
    #: Why, by name, if the page was not simply without it.
    problems: dict[str, str] = {}


def apply_rules(
    page: Page,
    rules: FieldRules,
    *,
    day_first: bool = True,
    seconds: float = DEFAULT_SECONDS,
) -> FoundFields:
    """The fields that rules find.

    `day_first`: whether 05/06 is the fifth of June here. `seconds` is for all rules: those for
    which no time is left find nothing.
    """
    if not rules.rules:
        return FoundFields()
    run = _Run(rules, SearchedPage(page, seconds, day_first=day_first))
    if not runs_within(seconds, run.run):
        run.is_given_up = True
    return run.found()


class _Run:
    """The rules on one page; in a thread of its own, which may be given up."""

    def __init__(self, rules: FieldRules, source: SearchedPage) -> None:
        self.is_given_up = False
        self._rules = rules.rules
        self._source = source
        self._values: dict[str, FieldValue | None] = {}
        self._problems: dict[str, str] = {}

    def run(self) -> None:
        for rule in self._rules:
            try:
                value = self._value(rule)
            except _PROBLEMS as error:
                value = None
                self._problems[rule.name] = _told(error)
            if self.is_given_up:
                return
            self._values[rule.name] = value

    def _value(self, rule: FieldRule) -> FieldValue | None:
        source = self._source
        for way in rule.ways:
            found = run_steps(way.steps, select(way, source, reader_of(rule.name)), source)
            value = as_field(
                rule.name,
                found,
                source.page,
                wants_all="all" in way.steps,
                day_first=source.day_first,
            )
            if value is not None:
                return value
        return None

    def found(self) -> FoundFields:
        # Copies: a thread that was given up may still add to them.
        values, problems = dict(self._values), dict(self._problems)
        names = [rule.name for rule in self._rules]
        problems |= {name: _TOO_LATE for name in names if name not in values}
        matched = {name: value for name, value in values.items() if value is not None}
        return FoundFields(
            values=_as_article(matched),
            unmatched=tuple(name for name in names if name not in matched),
            problems=problems,
        )


def _told(error: Exception) -> str:
    match error:
        case TimeoutError():
            return _TOO_LATE
        case TooLargeError():
            return f"the page has more than {MAX_TAGS:,} tags: only a regex can be used"
        case _:
            return f"this page cannot be searched so: {error}"


def _as_article(matched: dict[str, FieldValue]) -> dict[str, Any]:
    article: dict[str, Any] = {name: matched[name] for name in FIELDS if name in matched}
    if "body" in article:
        # The automatic one belongs to another body.
        article.setdefault("markdown", article["body"])
    if extra := {name: value for name, value in matched.items() if name not in FIELDS}:
        article["extra"] = extra
    return article
