"""What travels with each request of a board, and is in the store while the page waits."""

from typing import Any, Self

import msgspec
from scrapy import Request

from weft.boards.foundas import FoundAs
from weft.boards.refresh import RefreshState


class PageContext(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a request stands in the crawl of its board."""

    board: str
    found_as: FoundAs = FoundAs.TOPIC
    #: How many links the page is from an entry.
    depth: int = 0
    #: Redirects that led here.
    hops: int = 0
    #: How often the page could not be had; of a page that is fetched once.
    tries: int = 0
    #: It needs a browser.
    browser: bool = False
    #: It was taken for a list, but not surely.
    is_second_look: bool = False
    #: When its board was added; of entries.
    added_at_ms: int = 0
    #: What earlier visits have left; of a page that is visited again.
    state: RefreshState | None = None

    @classmethod
    def of(cls, request: Request) -> Self:
        return msgspec.convert(request.cb_kwargs["context"], cls)

    def packed(self) -> dict[str, Any]:
        """As plain values, for `cb_kwargs`."""
        return {"context": msgspec.to_builtins(self, builtin_types=(bytes,))}
