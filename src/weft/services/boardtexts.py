"""Boards that come as texts, not as files, and are changed by several people at a time."""

import json
from typing import Any

from weft.boards.board import BoardSource
from weft.boards.board.load import read_board
from weft.boards.store import PutResult
from weft.errors import ConfigError
from weft.frontier import JobHome
from weft.services.boards import open_boards, problem_of_sink
from weft.urls import without_password

#: What mistakes call the text.
_NAME = "board"


def read_yaml_board(content: bytes) -> BoardSource:
    """Raises ConfigError with all mistakes, one in a line."""
    return read_board(content, _NAME, _problem_of_sink)


def _problem_of_sink(address: str) -> str:
    """Without the address, for a password may stand at any place of one that is wrong."""
    problem = problem_of_sink(address)
    scheme, colon, _ = address.partition(":")
    if colon:
        for quoted in (address, without_password(address)):
            problem = problem.replace(quoted, f"{scheme}:…")
    return problem


def read_json_board(content: bytes) -> BoardSource:
    """The same. YAML does not read all of JSON, so it is written anew: tabs and the like."""
    try:
        told = json.loads(content, object_pairs_hook=_distinct)
        text = json.dumps(told, ensure_ascii=False, indent=2).encode()
    except RecursionError as error:
        raise ConfigError(f"{_NAME}:1:1: this is nested too deeply") from error
    except ValueError as error:
        raise ConfigError(f"{_NAME}:1:1: this is not JSON: {error}") from error
    return read_yaml_board(text)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r} is there twice; keep one of them")
    return found


async def put_board(home: JobHome, source: BoardSource, version: int | None) -> PutResult:
    """Add or change a board if it still has this version; 0: if there is none; None: in any case.
    A crawl that is running notices it."""
    async with open_boards(home) as store:
        return await store.put_if(source, version)
