"""Boards: a file names entry pages, and their articles are found and kept up to date.

    name: news
    entries:
      - https://example.org/news/

is a whole board. `form` is how boards are written, `board` what they mean, `load` reads them and
describes them to editors, `patterns` says which URLs belong to a board, `shown` hides passwords.
"""

from weft.boards.board.board import Board, BoardSource, Limits, Refresh
from weft.boards.board.load import board_schema, load_board, read_board
from weft.boards.board.patterns import is_article_url, is_of, urls_of
from weft.boards.board.shown import shown_text

__all__ = [
    "Board",
    "BoardSource",
    "Limits",
    "Refresh",
    "board_schema",
    "is_article_url",
    "is_of",
    "load_board",
    "read_board",
    "shown_text",
    "urls_of",
]
