"""Where redirects and jump links of boards lead: to pages that are fetched for themselves."""

from collections.abc import Iterator
from typing import Any

import msgspec
from scrapy.http import Response, TextResponse
from scrapy.utils.response import get_meta_refresh

from weft.boards.board import is_of
from weft.boards.foundas import FoundAs
from weft.boards.jumps import decode_jump, find_target, is_jump
from weft.boards.tracking import clean_url
from weft.engine.boards.boardpage import BoardPage
from weft.engine.boards.followpages import FollowPages
from weft.errors import PageError
from weft.urls import host_key

#: Redirects that lead to a page, at most.
MAX_HOPS = 10
#: A page that leads to another within this time is no page itself; others load themselves again.
MAX_WAIT_S = 5.0


class LeadsAwayError(PageError):
    """A page leads to one that the board may not have."""


class Redirects:
    def __init__(self, follow: FollowPages) -> None:
        self._follow = follow

    def target_of(self, page: BoardPage, response: Response) -> str:
        """Where an answer leads that is no page itself; empty if it is one.

        Raises PageError for a jump link that does not say where it leads.
        """
        location = response.headers.get("Location")
        if 300 <= response.status < 400 and location:
            return response.urljoin(location.decode("latin-1"))
        if not 200 <= response.status < 300 or not isinstance(response, TextResponse):
            return ""
        wait_s, refreshed = get_meta_refresh(response)
        if refreshed and wait_s is not None and wait_s <= MAX_WAIT_S and refreshed != response.url:
            return refreshed
        if page.context.found_as is not FoundAs.JUMP:
            return ""
        if target := find_target(response.body):
            return response.urljoin(target)
        if is_of(page.live.board, response.url):
            return ""
        raise PageError("a jump link that does not say where it leads")

    def follow(self, page: BoardPage, target: str) -> Iterator[Any]:
        """Raises PageError for a page that the board may not have."""
        if page.context.hops >= MAX_HOPS:
            raise PageError(f"redirected more than {MAX_HOPS} times")
        board = page.live.board
        is_jumping = page.context.found_as is FoundAs.JUMP
        if is_jumping and is_jump(target, board.jumping_urls):
            target = decode_jump(target, board.jumping_urls) or target
            if is_jump(target, board.jumping_urls):  # it has to be asked, too
                yield self._request(page, target, FoundAs.JUMP)
                return
        cleaned = clean_url(target, board.tracking)
        if not is_of(board, cleaned):
            if is_jumping:
                return  # as with any other link
            host = host_key(cleaned)
            raise LeadsAwayError(f"leads to {host}, which is not of the domains of the board")
        # A site may insist on what was removed from its links.
        url = target if cleaned == page.url else cleaned
        yield self._request(page, url, FoundAs.TOPIC if is_jumping else page.context.found_as)

    def _request(self, page: BoardPage, url: str, found_as: FoundAs) -> Any:
        context = msgspec.structs.replace(
            page.context, found_as=found_as, hops=page.context.hops + 1, state=None, tries=0
        )
        return self._follow.request(url, context, page.kind)
