"""The spider of boards.

Every answer comes to its callback, whatever its status: redirects are links, and a page that could
not be had is visited again when it is due. So Scrapy's own retries and redirects are switched off.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any, NoReturn

from scrapy import Request, Spider, signals
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from twisted.python.failure import Failure

from weft.boards.duplicates import open_duplicates
from weft.boards.foundas import FoundAs
from weft.boards.store import open_board_store
from weft.engine.boards.articles import Articles
from weft.engine.boards.boardpage import BoardPage, request_of
from weft.engine.boards.context import PageContext
from weft.engine.boards.failures import told
from weft.engine.boards.followpages import FollowPages
from weft.engine.boards.limitedhosts import LimitedHosts
from weft.engine.boards.live import LiveBoard, LiveBoards
from weft.engine.boards.middleware import BoardGoneError, NotWantedError
from weft.engine.boards.pagework import PageWork
from weft.engine.boards.route import BoardRoute
from weft.engine.boards.visitplans import ENOUGH_S, PAUSED_S, VisitPlans
from weft.engine.browser.finding import check_browser
from weft.engine.browser.problems import BrowserCrashError
from weft.engine.crawl import Crawl
from weft.engine.requests.positions import Position
from weft.engine.settings import JobConfig
from weft.errors import ConfigError
from weft.urls import host_key

#: So often a page may be open while the browser crashes.
MOST_CRASHES = 3


class BoardSpider(Spider):
    """Crawls the boards in the store of its job."""

    name = "boards"
    #: Pages that no parser can handle are refused here.
    checks_pages = True

    def make_route(self, config: JobConfig) -> BoardRoute:
        """Called before `start`."""
        self._route = BoardRoute(config)
        return self._route

    async def begin(self, crawl: Crawl) -> None:
        """Called before the first request is taken: by then the boards have to be known."""
        self._crawl = crawl
        config = crawl.config
        opened = AsyncExitStack()
        self.crawler.signals.connect(self._close, signals.spider_closed)
        self._opened = opened
        store = await opened.enter_async_context(open_board_store(config.boards, config.job))
        duplicates = await opened.enter_async_context(open_duplicates(config.boards, config.job))
        self._limited = LimitedHosts(crawl.limits, crawl.keys)
        self._live = self._route.live = LiveBoards(store, self._inject, self._limited.use)
        opened.push_async_callback(self._live.close)
        self._follow = FollowPages(self.parse, self.fail)
        self._visits = VisitPlans(crawl, self._follow.request)
        articles = Articles(duplicates)
        self._work = PageWork(crawl.fates, self._visits, self._follow, articles)
        await self._live.load()
        self._check_browser(config)

    def _check_browser(self, config: JobConfig) -> None:
        """Tell boards that want a browser that there is none; their pages would only fail."""
        try:
            check_browser(config.browser)
        except ConfigError as error:
            for live in self._live.all():
                if live.board.browser:
                    self.logger.error("board %s: %s", live.board.name, error)
                    live.notes.add_problem("", str(error))

    async def start(self) -> AsyncIterator[Any]:
        self._live.follow()
        return
        yield  # entries do not come from here: they are put in again and again

    def _inject(self, live: LiveBoard) -> None:
        """Put the entries of a board into the frontier, unless they are there."""
        board, requests = live.board, self._crawl.requests
        context = PageContext(
            board.name, FoundAs.ENTRY, browser=board.browser is True, added_at_ms=live.added_at_ms
        )
        for url in board.entries:
            request = self._follow.request(url, context, "nav")
            # Known as the entry of this board, and not by its URL alone.
            request.dont_filter = True
            requests.intake.found_at[request] = Position(0, live.number)
            requests.adder.add(request)

    def check(self, request: Request) -> None:
        """Called before a page is sent for. Raises NotWantedError if it is not fetched now, and
        BoardGoneError if it never is."""
        context = PageContext.of(request)
        live = self._live.get(context.board)
        if live is None or context.added_at_ms not in (0, live.added_at_ms):
            raise BoardGoneError(f"the board {context.board} was removed")
        self._limited.meet(host_key(request.url))
        page = BoardPage(request, context, live)
        if live.is_paused:
            self._put_off(page, PAUSED_S, f"the board {context.board} is paused")
        elif live.has_enough:
            limit = live.board.limits.pages
            self._put_off(page, ENOUGH_S, f"the board {context.board} has had its {limit:,} pages")
        elif context.is_second_look and not live.experience.are_articles(request.url):
            self._refuse(request, "a list, as far as the crawl knows by now")

    def _put_off(self, page: BoardPage, after_s: float, reason: str) -> None:
        self._visits.put_off(page, after_s)
        self._refuse(page.request, reason)

    def _refuse(self, request: Request, reason: str) -> NoReturn:
        if fate := self._crawl.fates.get(request):
            fate.refusal = reason
        raise NotWantedError(reason)

    async def parse(self, response: Response, **_: Any) -> AsyncIterator[Any]:
        if page := self._page(request_of(response)):
            async for thing in self._work.answer(page, response):
                yield thing

    def fail(self, failure: Failure) -> None:
        """There is no answer."""
        if isinstance(failure.value, NotWantedError | BoardGoneError):
            return
        page = self._page(failure.request)  # type: ignore[attr-defined]
        if page is None:
            return
        if isinstance(failure.value, BrowserCrashError) and page.context.tries < MOST_CRASHES:
            self._visits.plan_retry(page)  # it is not the fault of the page
        elif isinstance(failure.value, IgnoreRequest):  # by robots.txt, or by a user's middleware
            self._work.note_forbidden(page, str(failure.value))
        else:
            self._work.fail(page, 0, told(failure.value))

    def _page(self, request: Request) -> BoardPage | None:
        """None if its board was removed."""
        context = PageContext.of(request)
        live = self._live.get(context.board)
        return BoardPage(request, context, live) if live else None

    async def _close(self) -> None:
        await self._opened.aclose()
