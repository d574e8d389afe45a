"""Which links of a list page a board follows, and as what."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol

from weft.boards.board import Board, is_article_url, is_of
from weft.boards.jumps import decode_jump, is_jump
from weft.boards.pagenumbers import is_further_page
from weft.boards.traps import trap_in_url
from weft.urls import canonical_url

#: Boards whose entries are kept in their canonical form.
_KEPT_BOARDS = 1_000


class Following(NamedTuple):
    """The links of a page, each URL in one of these, in the order of the page."""

    #: To the data queue.
    articles: list[str]
    #: Further pages of the same list: to the nav queue, as deep as the page itself.
    further: list[str]
    #: To the nav queue, one deeper.
    others: list[str]
    #: Links of search engines that have to be asked where they lead.
    jumps: list[str]
    #: How many links are left out as traps, by the reason.
    traps: Counter[str]


class TrapRule(Protocol):
    """Why a link is not followed; empty if it is. `is_topic`: pages like it are mostly articles."""

    def __call__(self, url: str, *, is_topic: bool = False) -> str: ...


def trap_of_url(url: str, *, is_topic: bool = False) -> str:
    """The rule of who knows of no visits: what URLs show by themselves."""
    return trap_in_url(url)


def choose_links(
    board: Board,
    *,
    topics: Sequence[str],
    further: Sequence[str],
    links: Iterable[str],
    is_deep: bool,
    clean: Callable[[str], str],
    own_url: str,
    reason_against: TrapRule = trap_of_url,
) -> Following:
    """`links`: all of the page. `is_deep`: only articles may follow. `clean`: what a URL is without
    what is of no account. What a board names as an entry or an article is no trap."""
    chosen = _Chosen(board, clean, own_url, reason_against)
    found = chosen.found
    others = None if is_deep else found.others
    # A next page may stand among the topics, but is not deeper than they are.
    for url in further:
        chosen.put(url, found.further)
    for url in topics:
        chosen.put(url, others if board.articles else found.articles, is_topic=True)
    for url in links:
        chosen.put(url, found.further if is_further_page(url, own_url) else others)
    return found


class _Chosen:
    """What was chosen so far."""

    def __init__(
        self, board: Board, clean: Callable[[str], str], own_url: str, reason_against: TrapRule
    ) -> None:
        self.found = Following([], [], [], [], Counter())
        self._board = board
        self._clean = clean
        self._reason_against = reason_against
        self._entries = _canonical(board.entries)
        # As links are written, and as they are followed.
        self._met: set[str] = set()
        self._seen = {own_url, clean(own_url)}

    def put(self, link: str, place: list[str] | None, *, is_topic: bool = False) -> None:
        """`place`: where a link goes that is no article; None: nowhere."""
        if link in self._met:
            return
        self._met.add(link)
        url = self._real(link, is_topic=is_topic)
        if url is None or not self._is_wanted(url):
            return
        self._seen.add(url)
        if is_article_url(self._board, url):
            self.found.articles.append(url)
        elif place is not None:
            self._put(url, place)

    def _put(self, url: str, place: list[str]) -> None:
        if reason := self._reason_against(url, is_topic=place is self.found.articles):
            self.found.traps[reason] += 1
        else:
            place.append(url)

    def _is_wanted(self, url: str) -> bool:
        if url in self._seen or not is_of(self._board, url):
            return False
        return canonical_url(url) not in self._entries

    def _real(self, link: str, *, is_topic: bool) -> str | None:
        """What a link leads to; None if it has to be asked. Only topic links are worth that."""
        jumping = self._board.jumping_urls
        if not is_jump(link, jumping):
            return self._clean(link)
        target = decode_jump(link, jumping) or link
        if not is_jump(target, jumping):
            return self._clean(target)
        if is_topic and target not in self._seen:
            self._seen.add(target)
            self.found.jumps.append(target)
        return None


@lru_cache(_KEPT_BOARDS)
def _canonical(entries: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(canonical_url, entries))
