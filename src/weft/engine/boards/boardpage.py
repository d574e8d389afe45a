"""A page of a board while it is worked on."""

from typing import NamedTuple

from scrapy import Request
from scrapy.http import Response

from weft.boards.foundas import FoundAs
from weft.engine.boards.context import PageContext
from weft.engine.boards.live import LiveBoard

_NAV = "nav"


class BoardPage(NamedTuple):
    #: What asked for it.
    request: Request
    #: Where it stands in the crawl of its board.
    context: PageContext
    live: LiveBoard

    @property
    def url(self) -> str:
        url: str = self.request.url
        return url

    @property
    def kind(self) -> str:
        """The queue that it came from: data or nav."""
        kind: str = self.request.meta.get("weft_kind", "data")
        return kind

    @property
    def is_visited_again(self) -> bool:
        return self.context.state is not None

    @property
    def is_list(self) -> bool:
        """Whether it is visited for its links, as far as is known before it is read."""
        return self.kind == _NAV or self.context.found_as.is_followed

    @property
    def was_list(self) -> bool:
        """Whether it was a list when it was visited before. What a page was, it stays."""
        return self.is_visited_again and self.kind == _NAV

    @property
    def was_article(self) -> bool:
        return self.is_visited_again and self.kind != _NAV

    @property
    def is_entry(self) -> bool:
        return self.context.found_as is FoundAs.ENTRY


def request_of(response: Response) -> Request:
    """The request of a response that a callback gets; it has one."""
    assert response.request is not None
    return response.request


def content_type_of(response: Response) -> str:
    """As the server gives it; empty if it does not."""
    return (response.headers.get("Content-Type") or b"").decode("latin-1")
