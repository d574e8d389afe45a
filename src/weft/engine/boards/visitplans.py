"""When the pages of boards are visited again."""

from collections.abc import Callable

import msgspec
from scrapy import Request

from weft.boards.board import Board
from weft.boards.refresh import PageVisit, RefreshBounds, after_visit
from weft.engine.boards.boardpage import BoardPage
from weft.engine.boards.context import PageContext
from weft.engine.crawl import Crawl
from weft.engine.requests.revisits import Revisit

#: A page that is fetched once, and could not be had, is tried again after these times.
RETRY_S = (0.0, 600.0, 7_200.0)
#: A page of a paused board is looked at again so soon.
PAUSED_S = 60.0
#: The same for a board that has had all its pages: its limit may be raised.
ENOUGH_S = 3_600.0

#: Makes the request of a board's page: its address, its context, its kind.
MakeRequest = Callable[[str, PageContext, str], Request]


class VisitPlans:
    def __init__(self, crawl: Crawl, make_request: MakeRequest) -> None:
        self._crawl = crawl
        self._make_request = make_request

    def plan_list(self, page: BoardPage, visit: PageVisit, *, has_topics: bool = False) -> None:
        """A list is visited again for ever."""

        def plan(new_articles: int) -> Revisit:
            if not visit.is_failure:
                page.live.traps.note_visit(
                    page.url,
                    new_articles=new_articles,
                    has_topics=has_topics,
                    is_again=page.is_visited_again,
                )
            following = after_visit(
                page.context.state,
                msgspec.structs.replace(visit, new_articles=new_articles),
                bounds_of(page.live.board),
                is_entry=page.is_entry,
                fingerprint=self._crawl.requests.intake.page_of(page.request),
            )
            page.live.notes.count("new_links", new_articles)
            again = msgspec.structs.replace(page.context, state=following.state, tries=0)
            return self._revisit(page, following.due_in_ms / 1000, again, "nav")

        self._crawl.requests.revisits.plan(page.request, plan)

    def plan_update(self, page: BoardPage, visit: PageVisit) -> None:
        """An article is fetched again if its board wants that."""
        period_ms = page.live.board.update_after_ms
        if period_ms is None:
            return
        every_s = max(1, period_ms // 1000)
        bounds = RefreshBounds(every_s, every_s, every_s)
        following = after_visit(page.context.state, visit, bounds)
        again = msgspec.structs.replace(page.context, state=following.state, tries=0)
        self._plan(page, following.due_in_ms / 1000, again, "data")

    def plan_retry(self, page: BoardPage) -> None:
        """Try a page again that could not be had, a few times."""
        tries = page.context.tries
        if tries < len(RETRY_S):
            again = msgspec.structs.replace(page.context, tries=tries + 1)
            self._plan(page, RETRY_S[tries], again, page.kind)

    def plan_second_look(self, page: BoardPage) -> None:
        """Look at the same page once more, after those that are queued: more is known then. It is
        fetched again only if pages with such addresses turned out to be articles."""
        again = msgspec.structs.replace(page.context, is_second_look=True)
        self._plan(page, 0.0, again, page.kind)

    def plan_in_browser(self, page: BoardPage) -> None:
        """Fetch the same page once more, in a browser."""
        self._plan(page, 0.0, msgspec.structs.replace(page.context, browser=True), page.kind)

    def put_off(self, page: BoardPage, after_s: float) -> None:
        """Fetch the same page later."""
        self._plan(page, after_s, page.context, page.kind)

    def _plan(self, page: BoardPage, after_s: float, context: PageContext, kind: str) -> None:
        revisit = self._revisit(page, after_s, context, kind)
        self._crawl.requests.revisits.plan(page.request, lambda new: revisit)

    def _revisit(self, page: BoardPage, after_s: float, context: PageContext, kind: str) -> Revisit:
        return Revisit(after_s, self._make_request(page.url, context, kind))


def bounds_of(board: Board) -> RefreshBounds:
    refresh = board.refresh
    return RefreshBounds(
        *(max(1, ms // 1000) for ms in (refresh.every_ms, refresh.at_least_ms, refresh.at_most_ms))
    )
