"""Further pages of a list, by their addresses.

Links to them often have no word that says so, but an arrow that is a picture. They are as deep as
the list itself: else the depth of a board would end a list after some pages.
"""

import re
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

from weft.boards.board.patterns import MAX_URL_LENGTH

#: `/page/2/`, `/page2.html`; `/index_2.html`, `/list_1_2.html`.
_IN_PATH = re.compile(
    r"/+page[-_/]?\d{1,5}(?:\.[a-z]{2,5})?/*$|/(?:index|list)(?:[-_]?\d{1,5}){1,2}\.[a-z]{2,5}$",
    re.IGNORECASE,
)
_FIRST = re.compile(r"/+(?:(?:index|list|default)\.[a-z]{2,5})?$", re.IGNORECASE)
_IN_QUERY = re.compile(
    r"(?:page|paged|pg|pn|p|page_?no|page_?num(?:ber)?|page_?index)=\d{1,5}", re.IGNORECASE
)
_KEPT = 16_384


class _ListPage(NamedTuple):
    #: The address of the list, without what differs from page to page.
    of: tuple[str, str, tuple[str, ...]]
    has_number: bool


def is_further_page(url: str, of: str) -> bool:
    """Whether an address is that of a numbered page of the list at the other."""
    if max(len(url), len(of)) > MAX_URL_LENGTH:
        return False
    page = _taken_apart(url)
    return page.has_number and page.of == _taken_apart(of).of


@lru_cache(_KEPT)
def _taken_apart(url: str) -> _ListPage:
    host, path, query = urlsplit(url)[1:4]
    pairs = query.split("&") if query else []
    kept = tuple([pair for pair in pairs if not _IN_QUERY.fullmatch(pair)])
    start = _IN_PATH.sub("", path)
    has_number = start != path or len(kept) != len(pairs)
    return _ListPage((host.removeprefix("www."), _FIRST.sub("", start), kept), has_number)
