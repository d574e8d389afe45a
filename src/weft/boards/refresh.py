"""When a list page is due again.

A page has a period. It begins with the one of its board, becomes shorter when visits bring new
articles and longer when they do not, and always stays within the bounds of the board. The aim is
one new article a visit: then nothing is found late, and few visits are for nothing.

A page that fails comes back soon, then ever later. A page that stays gone, dead or barren retires:
it is tried rarely, and comes back to life with the first answer or the first new article. Entries
do not retire, because people named them.

All that is known of a page between two visits is its `RefreshState`, which is stored with each page
that waits, so it is small.
"""

from typing import NamedTuple

import msgspec

#: How much longer the period becomes by a visit without anything new.
SLOWER = 1.2
#: How much shorter a visit can make it: one burst does not make a busy page.
MAX_FASTER = 4.0
#: Up to so much of a period is left to chance, so that pages that were added together part.
JITTER = 0.1

#: When a page that could not be had is tried again first. Each further failure doubles it.
FIRST_RETRY_S = 10 * 60
#: A page that is not there so many times in a row is gone.
GONE_VISITS = 3
GONE = frozenset((404, 410))
#: A page that fails so many times in a row is dead.
DEAD_VISITS = 10
#: A page that brought nothing new for so long, and in so many visits, is barren.
BARREN_S = 45 * 86_400
BARREN_VISITS = 20
#: How often retired pages are tried, if the board visits no page as rarely as that.
RARELY_S = 30 * 86_400

#: So many visits are remembered, to be shown.
KEPT_VISITS = 5
#: In `RefreshState.brought`: there was no answer.
NO_ANSWER = -1
#: In `RefreshState.brought`: the page was the same as before.
UNCHANGED = -2
#: More new articles are not told apart.
MANY = 100

#: These answers say that the server could not at the moment, not that the page is bad.
_PASSING = frozenset((0, 408, 425, 429))


class RefreshBounds(msgspec.Struct, frozen=True):
    """The periods that a board allows."""

    #: The first period.
    every_s: int
    at_least_s: int
    at_most_s: int

    def within(self, period_s: float) -> float:
        return max(self.at_least_s, min(period_s, self.at_most_s))


class RefreshState(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """What is known of a page between two visits."""

    #: 0: it was never read.
    period_s: int = 0
    #: When it was last read, or found to be unchanged; UTC.
    read_at_s: int = 0
    #: What the last visits brought, the latest last: a number of new articles, or UNCHANGED,
    #: NO_ANSWER, or a status with a minus.
    brought: tuple[int, ...] = ()
    #: A digest of its content.
    digest: bytes = b""
    etag: str = ""
    #: Last-Modified; 0: not known.
    modified_s: int = 0
    #: Visits in a row without anything new, and the time that they span.
    barren: int = 0
    barren_s: int = 0
    #: Failures in a row.
    failures: int = 0


NEVER_VISITED = RefreshState()


class PageVisit(msgspec.Struct, frozen=True):
    """What one visit to a page was like."""

    #: By any clock that all visits of a page share; UTC.
    at_s: int
    #: 0: there was no answer.
    status: int = 200
    #: Articles that were not known before.
    new_articles: int = 0
    #: 304, or the same digest as before.
    is_unchanged: bool = False
    #: Why the page is of no use although there was an answer, such as "a login page".
    problem: str = ""
    #: Of the answer, for the next visit.
    digest: bytes = b""
    etag: str = ""
    modified_s: int = 0
    #: How long the page says that it stays the same: `<ttl>`, max-age; 0: it does not say.
    hint_s: int = 0

    @property
    def is_failure(self) -> bool:
        is_answer = 200 <= self.status < 300 or self.status == 304
        return bool(self.problem) or not is_answer


class NextVisit(NamedTuple):
    state: RefreshState
    due_in_ms: int
    #: In words, for people.
    why: str


def after_visit(
    state: RefreshState | None,
    visit: PageVisit,
    bounds: RefreshBounds,
    *,
    is_entry: bool = False,
    fingerprint: int = 0,
) -> NextVisit:
    """What is known of a page after a visit, when it is due again, and why.

    `fingerprint` decides the jitter: the same page always has the same.
    """
    state = state or NEVER_VISITED
    rarely_s = bounds.at_most_s if is_entry else max(bounds.at_most_s, RARELY_S)
    if visit.is_failure:
        state, wait_s, why = _after_failure(state, visit, bounds, rarely_s)
    else:
        state, wait_s, why = _after_answer(state, visit, bounds, rarely_s)
    due_s = _jittered(wait_s, bounds, fingerprint)
    return NextVisit(state, round(1000 * due_s), why)


class _Plan(NamedTuple):
    state: RefreshState
    wait_s: float
    why: str


def _after_answer(
    state: RefreshState, visit: PageVisit, bounds: RefreshBounds, rarely_s: float
) -> _Plan:
    new = 0 if visit.is_unchanged else max(0, visit.new_articles)
    is_first = state.period_s == 0
    elapsed_s = 0 if is_first else max(0, visit.at_s - state.read_at_s)
    period_s = bounds.within(_period_s(state, new, elapsed_s, bounds))
    after = RefreshState(
        period_s=round(period_s),
        read_at_s=visit.at_s,
        brought=_with(state, UNCHANGED if visit.is_unchanged else min(new, MANY)),
        digest=visit.digest or state.digest,
        etag=visit.etag or (state.etag if visit.is_unchanged else ""),
        modified_s=visit.modified_s or (state.modified_s if visit.is_unchanged else 0),
        barren=0 if new else state.barren + 1,
        barren_s=0 if new else state.barren_s + elapsed_s,
    )
    if _is_barren(after, period_s, bounds):
        return _Plan(
            after, rarely_s, f"nothing new for {in_words(after.barren_s)}: {_only(rarely_s)}"
        )
    wait_s = max(period_s, bounds.within(min(visit.hint_s, bounds.every_s)))
    told = "first visit" if is_first else _told(visit, new, after.barren)
    asked = ", as often as the site asks for" if wait_s > period_s else ""
    return _Plan(after, wait_s, f"{told}: every {in_words(wait_s)}{asked}")


def _period_s(state: RefreshState, new: int, elapsed_s: int, bounds: RefreshBounds) -> float:
    """The period after a visit, before the bounds."""
    if state.period_s == 0:
        return bounds.every_s
    period_s = bounds.within(state.period_s)
    if new == 0:
        return period_s * SLOWER
    # One article a visit, if they go on coming as they came since the last one.
    return min(period_s, max(elapsed_s / new, period_s / MAX_FASTER))


def _is_barren(state: RefreshState, period_s: float, bounds: RefreshBounds) -> bool:
    is_slowest = period_s >= bounds.at_most_s
    return is_slowest and state.barren >= BARREN_VISITS and state.barren_s >= BARREN_S


def _after_failure(
    state: RefreshState, visit: PageVisit, bounds: RefreshBounds, rarely_s: float
) -> _Plan:
    failures = state.failures + 1
    said = -visit.status if visit.status else NO_ANSWER
    after = msgspec.structs.replace(state, failures=failures, brought=_with(state, said))
    told = f"{_failure(visit)}, {_times(failures)}"
    is_gone = visit.status in GONE and failures >= GONE_VISITS
    if is_gone or failures >= DEAD_VISITS:
        return _Plan(after, rarely_s, f"{told}: {_only(rarely_s)}")
    period_s = bounds.within(state.period_s or bounds.every_s)
    is_passing = visit.status in _PASSING or visit.status >= 500
    first_s = min(period_s, FIRST_RETRY_S) if is_passing else period_s
    wait_s = bounds.within(first_s * 2 ** (failures - 1))
    return _Plan(after, wait_s, f"{told}: again in {in_words(wait_s)}")


def _with(state: RefreshState, brought: int) -> tuple[int, ...]:
    return (*state.brought, brought)[-KEPT_VISITS:]


def _jittered(wait_s: float, bounds: RefreshBounds, fingerprint: int) -> float:
    """A time near this one, within the same bounds."""
    low = max(wait_s * (1 - JITTER), bounds.at_least_s)
    high = wait_s if wait_s >= bounds.at_most_s else min(wait_s * (1 + JITTER), bounds.at_most_s)
    return low + (high - low) * (fingerprint & 0xFFFF) / 0xFFFF


def tell_visits(state: RefreshState) -> list[str]:
    """What the last visits to a page brought, in words, the latest first."""
    return [_brought(number) for number in reversed(state.brought)]


def _brought(number: int) -> str:
    if number == UNCHANGED:
        return "unchanged"
    if number < 0:
        return "no answer" if number == NO_ANSWER else f"failed with {-number}"
    return f"{_new(number)}{' or more' if number == MANY else ''}"


def _told(visit: PageVisit, new: int, barren: int) -> str:
    if new:
        return f"{_new(new)} in the last visit"
    return f"{'unchanged' if visit.is_unchanged else 'nothing new'}, {_times(barren)}"


def _new(number: int) -> str:
    if number == 0:
        return "nothing new"
    return f"{number:,} new article{'' if number == 1 else 's'}"


def _failure(visit: PageVisit) -> str:
    if visit.problem:
        return visit.problem
    return f"failed with {visit.status}" if visit.status else "no answer"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times in a row"


def _only(period_s: float) -> str:
    return f"retired, only every {in_words(period_s)}"


def in_words(seconds: float) -> str:
    """A duration for people: 20 min, 1.5 h, 3 days."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    if seconds < 36 * 3600:
        return f"{_short(seconds / 3600)} h"
    return f"{_short(seconds / 86_400)} days"


def _short(number: float) -> str:
    return f"{number:.0f}" if number >= 10 else f"{number:.1f}".removesuffix(".0")
