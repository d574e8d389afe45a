"""The JSON Schema tells editors the same as reading the file."""

from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
import yaml

from weft.boards.fields import parse_rules, rules_schema
from weft.errors import ConfigError

VALIDATOR = jsonschema.Draft202012Validator(rules_schema())


def is_valid(text: str) -> bool:
    return bool(VALIDATOR.is_valid(yaml.safe_load(text)))


def is_read(text: str) -> bool:
    try:
        parse_rules(text.encode(), "r.yaml")
    except ConfigError:
        return False
    return True


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(rules_schema())


@pytest.mark.parametrize(
    "text",
    [
        "fields: {title: h1, author: {css: a, steps: [strip]}}",
        "fields: {id: {regex: a, in: url}, b: [h1, {xpath: //a}]}",
        "fields: {a: {css: a, steps: [{attr: href}, {join: ''}, {default: 5}, all]}}",
        "fields: {a: {css: a, steps: [{replace: {a: b}}, {number: ','}, {date: month-first}]}}",
        "fields: {标题: h1}",
    ],
)
def test_rules_that_can_be_read_are_valid(text: str) -> None:
    assert is_read(text)
    assert is_valid(text)


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "fields: []",
        "fields: {}\nother: 1",
        "fields: {title: 5}",
        "fields: {2x: h1}",
        "fields: {a: []}",
        "fields: {a: {}}",
        "fields: {title: {css: a, xpath: b}}",
        "fields: {a: {csss: a}}",
        "fields: {a: {css: a, in: url}}",
        "fields: {a: {css: a, steps: strip}}",
        "fields: {a: {css: a, steps: [strp]}}",
        "fields: {a: {css: a, steps: [{}]}}",
        "fields: {a: {css: a, steps: [{join: a, split: b}]}}",
        "fields: {a: {css: a, steps: [{split: ''}]}}",
        "fields: {a: {css: a, steps: [{number: ;}]}}",
    ],
)
def test_rules_that_cannot_be_read_are_not_valid(text: str) -> None:
    assert not is_read(text)
    assert not is_valid(text)


def test_editors_can_suggest_the_fields_of_an_article() -> None:
    properties: dict[str, Any] = rules_schema()["$defs"]["RulesFile"]["properties"]
    assert {"title", "author", "published"} <= set(properties["fields"]["properties"])
