"""The JSON Schema of boards tells editors the same as reading them."""

from collections.abc import Iterator
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
import yaml

from weft.boards.board import board_schema, read_board
from weft.errors import ConfigError

VALIDATOR = jsonschema.Draft202012Validator(board_schema())
MINIMAL = "name: news\nentries: [https://example.org/]\n"


def is_valid(text: str) -> bool:
    return bool(VALIDATOR.is_valid(yaml.safe_load(text)))


def is_read(text: str) -> bool:
    try:
        read_board(text.encode(), "b.yaml", lambda _: "")
    except ConfigError:
        return False
    return True


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(board_schema())


@pytest.mark.parametrize(
    "lines",
    [
        "",
        "depth: 0\nfollow: [/a/]\narticles: ['\\d']\ndomains: [example.org]",
        "refresh: {every: 30m, at_least: 90s, at_most: 2 w}\nupdate_after: 1d",
        "limits: {pages: 5, delay: 0.5, concurrency: 1, workers_per_host: 2}",
        "limits: {pages: null, delay: 0}",
        "fields: {title: h1, x: [{css: a, steps: [strip]}]}",
        "jumping_urls: []\ntracking: [ref]\nbrowser: auto",
        "browser: true\nfeeds: false\nsitemaps: false\nsinks: [a.jsonl]",
    ],
)
def test_boards_that_can_be_read_are_valid(lines: str) -> None:
    assert is_read(MINIMAL + lines)
    assert is_valid(MINIMAL + lines)


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "name: a",
        "name: a\nentries: []",
        "name: a\nentries: [example.org]",
        "name: a b\nentries: [https://example.org/]",
        *(
            MINIMAL + line
            for line in (
                "depht: 1",
                "depth: -1",
                "follow: []",
                "follow: ['']",
                "refresh: {every: 3600}",
                "refresh: {every: soon}",
                "refresh: {never: 1h}",
                "update_after: 5",
                "limits: {pages: 0}",
                "limits: {speed: 1}",
                "fields: {title: {csss: h1}}",
                "tracking: ['a b']",
                "browser: maybe",
                "feeds: maybe",
                "sinks: []",
            )
        ),
    ],
)
def test_boards_that_cannot_be_read_are_not_valid(text: str) -> None:
    assert not is_read(text)
    assert not is_valid(text)


def properties(part: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in ("BoardForm", "RefreshForm", "Limits"):
        yield from part["$defs"][name]["properties"].items()


def test_every_key_is_described() -> None:
    found = dict(properties(board_schema()))
    assert len(found) > 20
    assert [name for name, part in found.items() if len(part.get("description", "")) < 10] == []


def test_editors_can_suggest_the_fields_of_an_article() -> None:
    fields = dict(properties(board_schema()))["fields"]
    assert {"title", "author", "published"} <= set(fields["properties"])
