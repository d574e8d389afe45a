"""Which URLs belong to a board, by its domains and regular expressions.

Asked for each link of each page, so boards are compiled once, and answers are kept for a while:
pages of a site have many links in common.

A user's expression may take very long on a long URL. It is stopped, the URL counts as one that does
not match, and from then on the expression sees only URLs half as long. So one that is slow on
everything soon costs nothing, and one that is slow on what nobody writes goes on working.
"""

from collections.abc import Iterable
from functools import lru_cache

from weft.boards.board.board import Board
from weft.boards.board.domains import domains_of, is_within
from weft.boards.fields.patterns import Pattern, pattern, problem_of_pattern
from weft.urls import host_key

#: Longer URLs are traps or mistakes.
MAX_URL_LENGTH = 2083
#: CPU time that an expression may take for a URL.
MATCH_SECONDS = 0.05
#: Boards that are kept compiled, and answers.
_KEPT_BOARDS = 10_000
_KEPT_ANSWERS = 16_384

#: Addresses as long as they usually get, which make it hard for an expression to give up.
_HARD = tuple(
    f"https://www.example.org/{part * (200 // len(part))}!.html!/"
    for part in ("a", "1", "a/", "a-", "a1", "1/1-", "a=1&", ".")
)


class UrlPattern:
    """A regular expression for URLs: it matches if it is found anywhere in them."""

    def __init__(self, source: str) -> None:
        """Raises ValueError if it is none."""
        self.source = source
        self._pattern: Pattern = pattern(source)
        #: Longer URLs do not match, because it takes too long.
        self.longest = MAX_URL_LENGTH

    @property
    def is_slow(self) -> bool:
        return self.longest < MAX_URL_LENGTH

    def matches(self, url: str) -> bool:
        if len(url) > self.longest:
            return False
        try:
            return next(self._pattern.find(url, MATCH_SECONDS), None) is not None
        except TimeoutError:
            self.longest = len(url) // 2
            return False


class BoardUrls:
    """What a board says about URLs."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self._domains = domains_of(board)
        self._follow = _compiled(board.follow)
        self._articles = _compiled(board.articles)

    def has_host(self, host: str) -> bool:
        """Whether it is of the board's domains."""
        return is_within(self._domains, host)

    def is_within(self, url: str) -> bool:
        """Whether its host is of the board's domains."""
        return len(url) <= MAX_URL_LENGTH and self.has_host(host_key(url))

    def is_of(self, url: str) -> bool:
        """Whether the board follows a link to it: an article, or another page that it may have."""
        if not self.is_within(url):
            return False
        return not self._follow or _any(self._follow, url) or _any(self._articles, url)

    def is_article(self, url: str) -> bool:
        """Whether the board says that it is one. False if it says nothing."""
        return _any(self._articles, url)

    def slow_patterns(self) -> list[UrlPattern]:
        """Those that took too long in this process."""
        found = {each.source: each for each in (*self._follow, *self._articles)}
        return [each for each in found.values() if each.is_slow]


_kept: dict[str, BoardUrls] = {}


def urls_of(board: Board) -> BoardUrls:
    """Compiled once for each board, as long as it is the same object."""
    urls = _kept.get(board.name)
    if urls is None or urls.board is not board:
        if len(_kept) >= _KEPT_BOARDS:
            _kept.clear()
        urls = _kept[board.name] = BoardUrls(board)
    return urls


def is_of(board: Board, url: str) -> bool:
    """Whether the board follows a link to this URL."""
    return _is_of(urls_of(board), url)


def is_article_url(board: Board, url: str) -> bool:
    """Whether the board's patterns say that it is an article. False if it has none."""
    return bool(board.articles) and _is_article(urls_of(board), url)


def problem_of_url_pattern(source: str) -> str:
    """Why an expression cannot be used for URLs; empty if it can."""
    if problem := problem_of_pattern(source):
        return problem
    tried = UrlPattern(source)
    for url in _HARD:
        tried.matches(url)
        if tried.is_slow:
            return (
                "it takes too long on some addresses; write it so that there is only one way to "
                "match a text, without one repeated group in another"
            )
    return ""


def _compiled(sources: Iterable[str]) -> tuple[UrlPattern, ...]:
    return tuple(map(UrlPattern, sources))


def _any(patterns: tuple[UrlPattern, ...], url: str) -> bool:
    return any(each.matches(url) for each in patterns)


@lru_cache(_KEPT_ANSWERS)
def _is_of(urls: BoardUrls, url: str) -> bool:
    return urls.is_of(url)


@lru_cache(_KEPT_ANSWERS)
def _is_article(urls: BoardUrls, url: str) -> bool:
    return urls.is_article(url)
