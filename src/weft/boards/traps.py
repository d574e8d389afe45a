"""Traps: pages without end that bring nothing, such as calendars, filters and paths that grow.

Some URLs show it by themselves. All others are judged by what came of pages like them: if pages of
one shape bring nothing new many times in a row, links to further ones are left out. A single new
article, also one that comes of a later visit to an old page, lets them in again. So a list with
thousands of pages full of new articles goes on for ever, and a calendar ends after some dozen.

Pages of two kinds of shape are counted, see `alike`. The wide one is for paths and filters of ever
new narrow shape, and has more patience.

A worker keeps this for itself, as it keeps its `Experience`.
"""

import re
from collections import Counter, OrderedDict
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from weft.boards.alike import Address, narrow_shape, wide_shape
from weft.clock import Clock

#: Paths with more parts, and queries with more parameters, have only URLs that grow.
MAX_PARTS = 20
MAX_PARAMETERS = 25
#: So often one part or some parts of a path may stand behind each other, or a parameter.
MAX_REPEATS = 2
#: Parts that are repeated together, at most.
LONGEST_UNIT = 5
#: So often a path may have the same word, and a query the same name.
MAX_SAME_WORD = 3
MAX_SAME_NAME = 10

#: So many pages of one narrow shape in a row may bring nothing: pages without a list, lists of
#: known articles, and pages for dates far off, which calendars have without end.
EMPTY_PAGES = 30
KNOWN_PAGES = 100
FAR_PAGES = 12
#: The same if they have a list, such as what is read most.
FAR_LISTS = 30
#: So many times as many of one wide shape.
WIDE = 5
#: So many times as many before topic links are left out, too.
TOPICS = 3
#: Dates before this year are far off; so are those to come.
FIRST_YEAR = 1990
#: Shapes whose last page brought nothing; those that were met the longest ago are forgotten.
MAX_SHAPES = 1_000
#: Reasons that are kept until somebody asks, and reasons that are not told again.
MAX_NEW_REASONS = 20
MAX_TOLD = 1_000

_KEPT = 16_384
_MONTHS = 12

_WORD = re.compile(r"[^\W\d_]{2}|%[89a-f]", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")
_MONTH = re.compile(r"(?<!\d)((?:19|2\d)\d\d)[-_./]?(0[1-9]|1[0-2]|[1-9])(?=\d\d?(?:\D|$)|\D|$)")
_YEAR = re.compile(r"[?&](?:y|yr|year|jahr|annee|ano)=((?:19|2\d)\d\d)(?!\d)", re.IGNORECASE)
#: An escape of an escape of an escape.
_ESCAPES = "%2525"


class _Look(NamedTuple):
    """What a URL shares with others."""

    narrow: str
    wide: str
    #: The first and the last month of the date in it, counted from the year 0; 0: it has none.
    first_month: int
    last_month: int


class _Streak:
    """Pages of one shape in a row that brought nothing."""

    __slots__ = ("pages", "reason", "share")

    def __init__(self) -> None:
        self.pages = 0
        #: Of the patience with such pages: 1 or more, there is none left.
        self.share = 0.0
        #: For people; empty while there is patience.
        self.reason = ""


class Traps:
    """What a worker knows of the traps of one board."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._streaks: OrderedDict[str, _Streak] = OrderedDict()
        self._has_shut = False
        self._new_reasons: dict[str, str] = {}
        self._told: set[str] = set()

    def note_visit(
        self, url: str, *, new_articles: int, has_topics: bool, is_again: bool = False
    ) -> None:
        """A page was visited; an article has brought itself.

        `new_articles`: that were not known before. `has_topics`: it is a list. `is_again`: it was
        visited before, so that it counts only if it brought something.
        """
        look = _look(url)
        is_far = self._is_far(look)
        shapes = _shapes(look, is_far)
        if new_articles:
            for shape in shapes:
                self._streaks.pop(shape, None)
        elif not is_again:
            patience = _patience(has_topics=has_topics, is_far=is_far)
            self._lengthen(shapes[0], url, patience, is_far)
            self._lengthen(shapes[1], url, patience * WIDE, is_far)

    def reason_against(self, url: str, *, is_topic: bool = False) -> str:
        """Why a link is not followed, for people; empty if it is."""
        reason = trap_in_url(url)
        if not reason and self._has_shut:
            reason = self._shut_by(url, is_topic)
        if reason:
            self._tell(reason, url)
        return reason

    def take_new_reasons(self) -> dict[str, str]:
        """The reasons that were not told before, each with a URL."""
        taken, self._new_reasons = self._new_reasons, {}
        return taken

    def _lengthen(self, shape: str, url: str, patience: int, is_far: bool) -> None:
        streak = self._streaks.pop(shape, None) or _Streak()
        self._streaks[shape] = streak
        streak.pages += 1
        streak.share += 1 / patience
        # A little less than 1, because shares are not exact.
        if streak.share > 1 - 1e-9 and not streak.reason:
            what = "for dates far off, such as" if is_far else "such as"
            streak.reason = f"{streak.pages} pages in a row {what} {url} brought nothing new"
            self._has_shut = True
        if len(self._streaks) > MAX_SHAPES:
            self._streaks.popitem(last=False)

    def _shut_by(self, url: str, is_topic: bool) -> str:
        look = _look(url)
        narrow, wide = _shapes(look, self._is_far(look))
        # Shapes of topic links have articles often enough.
        for shape in (narrow,) if is_topic else (narrow, wide):
            streak = self._streaks.get(shape)
            if streak and streak.reason and (not is_topic or streak.share >= TOPICS):
                self._streaks.move_to_end(shape)
                return streak.reason
        return ""

    def _is_far(self, look: _Look) -> bool:
        if not look.last_month:
            return False
        return look.last_month < FIRST_YEAR * _MONTHS or look.first_month > self._month()

    def _month(self) -> int:
        # The average month is exact enough: this one and the next are not told apart anyway.
        return 1970 * _MONTHS + int(self._clock.now_ms() / 2_629_746_000)

    def _tell(self, reason: str, url: str) -> None:
        if reason in self._told or len(self._new_reasons) >= MAX_NEW_REASONS:
            return
        if len(self._told) >= MAX_TOLD:
            self._told.clear()
        self._told.add(reason)
        self._new_reasons[reason] = url


def _patience(*, has_topics: bool, is_far: bool) -> int:
    if is_far:
        return FAR_LISTS if has_topics else FAR_PAGES
    return KNOWN_PAGES if has_topics else EMPTY_PAGES


@lru_cache(_KEPT)
def trap_in_url(url: str) -> str:
    """Why a URL is one of a trap, as far as it shows that itself; empty if it does not."""
    path, _, query = url.partition("//")[2].partition("?")
    if _ESCAPES in url:
        return "its address has been escaped again and again"
    return _trap_in_path(path.split("/")[1:]) or _trap_in_query(query.split("&"))


def _trap_in_path(parts: list[str]) -> str:
    if len(parts) > MAX_PARTS:
        return f"the path of its address has more than {MAX_PARTS} parts"
    repeated = len(parts) - len(set(parts))
    if repeated >= MAX_REPEATS and _repeats_itself(parts):
        return "the path of its address repeats itself"
    if repeated >= MAX_SAME_WORD and _has_same(filter(_WORD.search, parts), MAX_SAME_WORD):
        return "the path of its address repeats a word"
    return ""


def _repeats_itself(parts: list[str]) -> bool:
    """Whether some parts stand behind each other again and again; numbers and letters may."""
    for size in range(1, LONGEST_UNIT + 1):
        is_telling = _WORD if size == 1 else _LETTER
        run = 0
        for place, (part, later) in enumerate(zip(parts, parts[size:], strict=False)):
            run = run + 1 if part == later else 0
            if run >= size * MAX_REPEATS and is_telling.search("/".join(parts[place:][:size])):
                return True
    return False


def _has_same(texts: Iterable[str], times: int) -> bool:
    """Whether a text comes more often than that."""
    return max(Counter(texts).values(), default=0) > times


def _trap_in_query(pairs: list[str]) -> str:
    if len(pairs) <= MAX_REPEATS:
        return ""
    if len(pairs) > MAX_PARAMETERS:
        return f"its address has more than {MAX_PARAMETERS} parameters"
    names = (pair.partition("=")[0] for pair in pairs)
    if _has_same(filter(None, pairs), MAX_REPEATS) or _has_same(names, MAX_SAME_NAME):
        return "its address repeats a parameter"
    return ""


def _shapes(look: _Look, is_far: bool) -> tuple[str, str]:
    """The narrow shape and the wide one."""
    mark = " far" if is_far else ""
    return f"n {look.narrow}{mark}", f"w {look.wide}{mark}"


@lru_cache(_KEPT)
def _look(url: str) -> _Look:
    address = Address.of(url)
    months = _months(f"/{address.path}?{address.query}")
    return _Look(
        narrow_shape(address),
        wide_shape(address),
        min(months, default=0),
        max(months, default=0),
    )


def _months(text: str) -> list[int]:
    found = [int(year) * _MONTHS + int(month) - 1 for year, month in _MONTH.findall(text)]
    return found or [int(year) * _MONTHS for year in _YEAR.findall(text)]
