"""What becomes of an answer: the page is read, its links are followed, its article is stored.

What counts is what a page is, not which link led to it: one that was queued as an article and is a
list is handled as a list at once, and the other way round.
"""

import logging
from collections.abc import AsyncIterator, Iterator
from typing import Any

from scrapy.http import Response, TextResponse

from weft.boards.board import is_article_url
from weft.boards.charsets import wrong_charset
from weft.boards.documents import is_page
from weft.boards.foundas import FoundAs
from weft.boards.login import is_login_page
from weft.boards.reading.reading import Reading, ReadOptions
from weft.boards.refresh import PageVisit
from weft.boards.rendering import looks_empty
from weft.boards.unchanged import digest_of
from weft.clock import SystemClock
from weft.engine.boards.announced import AnnouncedPages
from weft.engine.boards.answers import answered, failed
from weft.engine.boards.articles import Articles
from weft.engine.boards.boardpage import BoardPage, content_type_of
from weft.engine.boards.followpages import FollowPages
from weft.engine.boards.redirects import LeadsAwayError, Redirects
from weft.engine.boards.visitplans import VisitPlans
from weft.engine.claims.fates import Fates
from weft.engine.pages import read_response
from weft.engine.requests.follow import FollowAll
from weft.errors import PageError

#: Answers that say that the server could not at the moment; 0: there was no answer.
_PASSING = frozenset({0, 408, 425, 429})
#: Scores of pages that may be articles all the same.
LEAST_SCORE = 0.01

logger = logging.getLogger(__name__)


class PageWork:
    def __init__(
        self,
        fates: Fates,
        visits: VisitPlans,
        follow: FollowPages,
        articles: Articles,
    ) -> None:
        self._clock = SystemClock()
        self._fates = fates
        self._visits = visits
        self._follow = follow
        self._articles = articles
        self._announced = AnnouncedPages(follow, visits)
        self._redirects = Redirects(follow)

    # What came

    async def answer(self, page: BoardPage, response: Response) -> AsyncIterator[Any]:
        page.live.notes.count("pages")
        try:
            async for thing in self._answer(page, response):
                yield thing
        except PageError as error:
            is_of_site = isinstance(error, LeadsAwayError) and not page.is_entry
            self.fail(page, 200, str(error), is_of_site=is_of_site)
        except Exception as error:  # a defect of ours costs its page
            logger.exception("%s", page.url)
            self.fail(page, 200, f"reading it raised {type(error).__name__}: {error}")

    async def _answer(self, page: BoardPage, response: Response) -> AsyncIterator[Any]:
        if response.status == 304:
            self._note_unchanged(page, response)
        elif target := self._redirects.target_of(page, response):
            if page.is_entry:
                self._visits.plan_list(page, answered(response, self._clock))
            for thing in self._redirects.follow(page, target):
                yield thing
        elif 200 <= response.status < 300:
            async for thing in self._page(page, response):
                yield thing
        else:
            self.fail(page, response.status, f"status {response.status}")
            for thing in self._announced.instead(page, response):
                yield thing

    def fail(self, page: BoardPage, status: int, problem: str, *, is_of_site: bool = False) -> None:
        """The page could not be had, or is of no use. `is_of_site`: many pages of its site may have
        this problem."""
        page.live.notes.count("failed")
        if fate := self._fates.get(page.request):
            fate.page_problem = problem
        if _is_dead_link(page, status):
            return
        notes = page.live.notes
        if page.context.found_as is not FoundAs.SITEMAP:
            tell = notes.add_problem_of_site if is_of_site else notes.add_problem
            tell(page.url, problem)
        if page.is_list:
            what = "" if status >= 300 or not status else problem
            self._visits.plan_list(page, failed(status, self._clock, what))
        elif status in _PASSING or status >= 500:
            self._visits.plan_retry(page)

    def note_forbidden(self, page: BoardPage, reason: str) -> None:
        """The page was not sent for. An entry is tried again, for robots.txt may change."""
        page.live.notes.count("forbidden")
        if page.is_entry:
            page.live.notes.add_problem(page.url, reason)
            self._visits.plan_list(page, failed(403, self._clock))

    def _note_unchanged(self, page: BoardPage, response: Response) -> None:
        page.live.notes.count("unchanged")
        visit = answered(response, self._clock, is_unchanged=True)
        if page.is_list:
            self._visits.plan_list(page, visit)
        else:
            self._visits.plan_update(page, visit)

    # Pages

    async def _page(self, page: BoardPage, response: Response) -> AsyncIterator[Any]:
        digest = digest_of(response.body)
        if page.context.state is not None and page.context.state.digest == digest:
            self._note_unchanged(page, response)
            return
        visit = answered(response, self._clock, digest)
        if self._announced.is_announced(page, response):
            async for thing in self._announced.read(page, response, visit):
                yield thing
        elif not isinstance(response, TextResponse) or not _is_page(response):
            self._note_other(page, response)
        elif self._needs_browser(page, response):
            page.live.notes.count("rendered")
            self._visits.plan_in_browser(page)
        else:
            async for thing in self._read_page(page, response, visit):
                yield thing

    def _note_other(self, page: BoardPage, response: Response) -> None:
        """It is a picture, a document, a script."""
        page.live.notes.count("other")
        if page.is_entry:
            kind = content_type_of(response) or "something else"
            raise PageError(f"neither a page nor a feed, but {kind}")

    def _needs_browser(self, page: BoardPage, response: Response) -> bool:
        is_asked_for = page.live.board.browser == "auto" and not page.context.browser
        return is_asked_for and looks_empty(response.body)

    async def _read_page(
        self, page: BoardPage, response: TextResponse, visit: PageVisit
    ) -> AsyncIterator[Any]:
        reading = self._read(page, response)
        wrong = wrong_charset(response.body, content_type_of(response), reading.encoding)
        if wrong:
            page.live.notes.add_problem_of_site(response.url, wrong)
        self._follow.note_links(page, reading)
        is_login = _is_login(response)
        is_article = self._is_article(page, reading) and not is_login
        if _is_first_reading(page):
            # What it looks like by itself, unless that is not how it was decided.
            is_decided = is_login or page.is_entry or bool(page.live.board.articles)
            looks = is_article if is_decided else reading.judgement.is_article_alone
            page.live.experience.note_verdict(response.url, is_article=looks)
        if is_article:
            for thing in self._article(page, reading, visit):
                yield thing
            for item in await self._articles.items(page.live, reading):
                yield item
        else:
            for thing in self._list(page, response, reading, visit):
                yield thing

    def _read(self, page: BoardPage, response: TextResponse) -> Reading:
        board = page.live.board
        options = ReadOptions(
            rules=board.fields,
            is_article=page.was_article or is_article_url(board, response.url),
            is_list=page.was_list or page.is_entry,
            has_all_links=True,
        )
        provenance = page.live.experience.provenance(response.url, page.context.found_as)
        return read_response(response, provenance, options)

    def _is_article(self, page: BoardPage, reading: Reading) -> bool:
        board = page.live.board
        if board.articles:
            return is_article_url(board, reading.url)
        return reading.article is not None

    def _article(self, page: BoardPage, reading: Reading, visit: PageVisit) -> Iterator[FollowAll]:
        """Of its links only those to further articles are followed, and only if it lists some."""
        page.live.notes.count("articles")
        has_topics = reading.judgement.topics.passes
        page.live.traps.note_visit(page.url, new_articles=1, has_topics=has_topics)
        self._visits.plan_update(page, visit)
        if has_topics and page.context.depth <= page.live.board.depth:
            yield from self._follow.topics(page, reading)

    def _list(
        self, page: BoardPage, response: Response, reading: Reading, visit: PageVisit
    ) -> Iterator[FollowAll]:
        page.live.notes.count("lists")
        has_topics = reading.judgement.topics.passes
        is_kept = page.is_visited_again or page.context.found_as.is_followed
        if is_login_page(response.body, response.url, has_topics=has_topics):
            if is_kept:
                raise PageError("a login page instead of a list")
            return
        if page.is_entry and not has_topics:
            what = "no links to articles were found on this entry page"
            page.live.notes.add_problem(response.url, what)
        if has_topics or is_kept:
            self._visits.plan_list(page, visit, has_topics=has_topics)
        else:
            page.live.traps.note_visit(page.url, new_articles=0, has_topics=False)
            if _is_in_doubt(page, reading):
                self._visits.plan_second_look(page)
        yield from self._announced.requests(page, response, reading)
        if page.context.depth <= page.live.board.depth:
            yield from self._follow.links(page, reading)


def _is_page(response: Response) -> bool:
    return is_page(response.body, content_type_of(response))


def _is_login(response: Response) -> bool:
    """Whether it is a login page by its address, too."""
    return is_login_page(response.body, response.url, has_topics=True)


def _is_first_reading(page: BoardPage) -> bool:
    """A page votes once for what pages like it are, however often it is visited."""
    return not page.is_visited_again and not page.context.is_second_look


def _is_in_doubt(page: BoardPage, reading: Reading) -> bool:
    """Whether what was taken for a list may be an article, as far as its board leaves that to us.
    The first pages of a site are judged by what they show, and short articles show little."""
    if page.live.board.articles:
        return False
    return not page.context.is_second_look and reading.judgement.article.score >= LEAST_SCORE


def _is_dead_link(page: BoardPage, status: int) -> bool:
    """Whether a page was never there: the link is bad, and not the page."""
    state = page.context.state
    was_read = state is not None and state.period_s > 0
    is_refused = 400 <= status < 500 and status not in _PASSING
    is_linked = page.context.found_as not in (FoundAs.ENTRY, FoundAs.SITEMAP)
    return is_refused and is_linked and not was_read
