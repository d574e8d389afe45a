"""Lists are answered in pages: each names the cursor of the next."""

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Annotated, Generic, TypeVar

import msgspec
from fastapi import Depends, Query

from weft.control.problems import MistakesError

DEFAULT_LIMIT = 100
MAX_LIMIT = 500

Row = TypeVar("Row")
Key = TypeVar("Key", str, int)


class ListPage(msgspec.Struct, Generic[Row], frozen=True):
    items: list[Row]
    #: The cursor of the next page; null: this is the last.
    next: str | None


class WantedPage(msgspec.Struct, frozen=True):
    limit: int = DEFAULT_LIMIT
    #: Empty: the first page.
    cursor: str = ""

    def after(self, kind: type[Key]) -> Key | None:
        """The key of the last row of the page before; None: there is none."""
        if not self.cursor:
            return None
        try:
            return msgspec.json.decode(base64.urlsafe_b64decode(self.cursor), type=kind)
        except (binascii.Error, ValueError, msgspec.MsgspecError) as error:
            raise MistakesError(
                "parameters of this request are wrong",
                ["cursor: this is none; leave it out, or take `next` of the page before"],
            ) from error


def _wanted_page(
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT, description="Rows per page.")] = DEFAULT_LIMIT,
    cursor: Annotated[str, Query(max_length=1_000, description="`next` of the page before.")] = "",
) -> WantedPage:
    return WantedPage(limit, cursor)


#: The parameters of an endpoint that answers a list.
ThePage = Annotated[WantedPage, Depends(_wanted_page)]


def page_of(
    rows: Sequence[Row], key: Callable[[Row], str | int], wanted: WantedPage
) -> ListPage[Row]:
    """The first rows of those that come after the page before, and the cursor of the rest."""
    shown = list(rows[: wanted.limit])
    if len(rows) == len(shown):
        return ListPage(shown, None)
    return ListPage(shown, base64.urlsafe_b64encode(msgspec.json.encode(key(shown[-1]))).decode())


def page_by_name(
    rows: Sequence[Row], name: Callable[[Row], str], wanted: WantedPage
) -> ListPage[Row]:
    """The page of a whole list."""
    after = wanted.after(str)
    rest = [row for row in rows if after is None or name(row) > after]
    return page_of(sorted(rest, key=name), name, wanted)
