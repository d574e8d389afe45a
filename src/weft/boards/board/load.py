"""Reads the files of boards, and describes them to editors."""

from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from weft.boards.board.board import (
    AUTO,
    DEFAULT_AT_LEAST_MS,
    DEFAULT_AT_MOST_MS,
    DEFAULT_EVERY_MS,
    Board,
    BoardSource,
    Refresh,
)
from weft.boards.board.domains import domain_name
from weft.boards.board.durations import DURATION, duration_ms
from weft.boards.board.form import BoardForm, RefreshForm, SinkCheck, checking_sinks
from weft.boards.fields import rules_of
from weft.boards.fields.load import refine_fields
from weft.yamlfile import read_content, read_yaml


def load_board(path: Path, check_sink: SinkCheck) -> BoardSource:
    """Raises ConfigError with all that is wrong with the file."""
    return read_board(read_content(path), str(path), check_sink)


def read_board(content: bytes, name: str, check_sink: SinkCheck) -> BoardSource:
    """The same for the content of a file; `name` is what mistakes call it."""
    with checking_sinks(check_sink):
        form = read_yaml(content, name, BoardForm)
    return BoardSource(_board_of(form), content.decode("utf-8-sig"))


def _board_of(form: BoardForm) -> Board:
    return Board(
        name=form.name,
        entries=_once(form.entries),
        depth=form.depth,
        follow=_once(form.follow),
        articles=_once(form.articles),
        domains=_once(tuple(map(domain_name, form.domains))),
        refresh=_refresh_of(form.refresh),
        update_after_ms=_ms(form.update_after),
        limits=form.limits,
        fields=rules_of(form.fields),
        jumping_urls=None if form.jumping_urls is UNSET else _once(form.jumping_urls),
        tracking=_once(form.tracking),
        browser=AUTO if isinstance(form.browser, str) else form.browser,
        feeds=form.feeds,
        sitemaps=form.sitemaps,
        sinks=_once(form.sinks),
    )


def _once(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


def _ms(value: str | float | UnsetType) -> int | None:
    return None if value is UNSET else duration_ms(str(value))


def _refresh_of(form: RefreshForm) -> Refresh:
    """What is not given gives way to what is."""
    least, every, most = _ms(form.at_least), _ms(form.every), _ms(form.at_most)
    usual = every or max(DEFAULT_EVERY_MS, least or 0)
    if most:
        usual = min(usual, most)
    return Refresh(
        every_ms=usual,
        at_least_ms=least or min(DEFAULT_AT_LEAST_MS, usual),
        at_most_ms=most or max(DEFAULT_AT_MOST_MS, usual),
    )


def board_schema() -> dict[str, Any]:
    """The JSON Schema of the file of a board."""
    schema = msgspec.json.schema(BoardForm)
    definitions = schema["$defs"]
    board = definitions["BoardForm"]["properties"]
    refine_fields(definitions, board["fields"])
    for part in (board["update_after"], *definitions["RefreshForm"]["properties"].values()):
        del part["anyOf"]
        part |= {"type": "string", "pattern": DURATION, "examples": ["30m", "6h", "7d"]}
    board["browser"]["anyOf"] = [{"type": "boolean"}, {"const": AUTO}]
    board["entries"]["items"] |= {"format": "uri", "pattern": "^[hH][tT][tT][pP][sS]?://."}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Weft: a board",
        **schema,
    }
