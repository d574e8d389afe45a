"""Writes the file of a board for entry pages that somebody has seen."""

import re
from collections.abc import Sequence

from weft.boards.board.form import NAME
from weft.boards.board.shown import quoted
from weft.urls import host_key

_LONGEST_NAME = 64


def name_of(url: str) -> str:
    """A name for the board of an entry page: its host, and the first part of its path."""
    host = host_key(url).removeprefix("www.")
    path = url.partition("://")[2].partition("/")[2]
    section = re.split(r"[/?#]", path, maxsplit=1)[0].partition(".")[0]
    words = re.findall(r"[A-Za-z0-9]+", f"{host} {section}")
    name = "-".join(words)[:_LONGEST_NAME].rstrip("-")
    return name if re.fullmatch(NAME, name) else "board"


def draft_board(name: str, entries: Sequence[str]) -> str:
    """The text of a board that names only these entries. What else it could say is in comments."""
    return "\n".join(
        (
            f"name: {_as_text(name)}",
            "entries:",
            *(f"  - {quoted(url)}" for url in entries),
            "",
            "# All else is found by itself. Remove the # of what you want to decide yourself:",
            "# refresh:",
            "#   every: 1h          # how often lists are visited; adapts to how often they change",
            "# depth: 3             # how many links away from an entry a page may be",
            "# articles:            # regular expressions of the URLs of articles",
            "#   - /news/[0-9]+",
            "# limits:",
            "#   pages: 1000        # stop after so many pages",
            "#   delay: 2           # seconds between two requests to a host",
            "# fields:              # where a field is found, if it is found wrongly",
            "#   title: h1.headline",
            "",
        )
    )


def _as_text(name: str) -> str:
    """In quotes if YAML would take it for something else."""
    is_plain = name[0].isalpha() and name.lower() not in ("true", "false", "null")
    return name if is_plain else quoted(name)
