"""What Weft promises, compared with what was measured."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from bench.crawlers.rows import Row


class Limit(NamedTuple):
    what: str
    figure: float
    bound: float
    #: Whether the figure must be at most the bound; otherwise at least.
    is_most: bool = True

    @property
    def is_kept(self) -> bool:
        return self.figure <= self.bound if self.is_most else self.figure >= self.bound

    def __str__(self) -> str:
        sign = "≤" if self.is_most else "≥"
        verdict = "ok" if self.is_kept else "MISSED"
        return f"{verdict:6} {self.what}: {self.figure:.3g} (limit {sign} {self.bound:.3g})"


class _Ratio(NamedTuple):
    what: str
    ours: str
    theirs: str
    most: float
    figure: Callable[[Row], float] = lambda row: row.cpu_ms


_RATIOS = (
    _Ratio("Weft embedded / plain Scrapy, CPU", "weft", "scrapy", 1 / 10),
    _Ratio("Weft embedded / hand-written, CPU", "weft", "handwritten", 1.6),
    _Ratio("Weft on Redis / scrapy-redis, CPU", "weft-redis-1", "scrapy-redis-1", 1 / 13),
    _Ratio(
        *("Weft on Redis / scrapy-redis, CPU of Redis", "weft-redis-1", "scrapy-redis-1", 1 / 5),
        lambda row: row.redis_cpu_ms,
    ),
    _Ratio("with weft.LinkExtractor / plain Scrapy, CPU", "addon-links", "scrapy", 1 / 4),
    _Ratio("unchanged spider / plain Scrapy, CPU", "addon", "scrapy", 0.55),
)
#: Start and end, beside those of plain Scrapy.
_START_RATIOS = (
    _Ratio("Weft embedded / plain Scrapy, start and end", "weft", "scrapy", 1.05),
    _Ratio("spider by weft crawl / plain Scrapy, start and end", "weft-spider", "scrapy", 1.05),
    _Ratio("spider on the add-on / plain Scrapy, start and end", "addon", "scrapy", 1.05),
    _Ratio("two workers / plain Scrapy, start and end", "weft-workers-2", "scrapy", 2),
)
LEAST_POLITE = 0.9
MOST_GROWTH = 1.1


def limits_of(scenario: str, rows: Sequence[Row]) -> list[Limit]:
    """The limits that can be checked with these rows."""
    right = [row for row in rows if row.has_figures]
    return list(_KINDS[scenario](right)) if scenario in _KINDS else []


def _costs(rows: Sequence[Row]) -> Iterator[Limit]:
    return _ratios(_RATIOS, rows)


def _starts(rows: Sequence[Row]) -> Iterator[Limit]:
    return _ratios(_START_RATIOS, rows)


def _ratios(ratios: Sequence[_Ratio], rows: Sequence[Row]) -> Iterator[Limit]:
    by_name: Mapping[str, Row] = {row.name: row for row in rows}
    for ratio in ratios:
        ours, theirs = by_name.get(ratio.ours), by_name.get(ratio.theirs)
        if (
            ours
            and theirs
            and _are_measured(one := ratio.figure(ours), other := ratio.figure(theirs))
        ):
            yield Limit(ratio.what, one / other, ratio.most)


def _are_measured(*figures: float) -> bool:
    """With very few pages, start and end may seem to cost more than the whole crawl."""
    return all(figure > 0 for figure in figures)


def _polite(rows: Sequence[Row]) -> Iterator[Limit]:
    for row in rows:
        if row.name.startswith("weft"):
            what = f"{row.label}, part of what politeness allows"
            yield Limit(what, row.polite_share, LEAST_POLITE, is_most=False)


def _endurance(rows: Sequence[Row]) -> Iterator[Limit]:
    if len(rows) == 2 and _are_measured(*(row.cpu_ms for row in rows)):
        short, long = rows
        what = f"CPU of a page, {long.pages:,} pages / {short.pages:,} pages"
        yield Limit(what, long.cpu_ms / short.cpu_ms, MOST_GROWTH)


_KINDS: Mapping[str, Callable[[Sequence[Row]], Iterator[Limit]]] = {
    "links": _costs,
    "polite": _polite,
    "endurance": _endurance,
    "start": _starts,
}
