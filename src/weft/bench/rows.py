"""What was measured, as one row per contestant: medians of its rounds, or means.

Where many short crawls stand beside one that is as long as all of them, means are compared: a
long crawl is a mean of good and bad moments by itself.
"""

from collections.abc import Callable, Sequence
from statistics import mean, median
from typing import NamedTuple

from weft.bench.field import Pace
from weft.bench.pages import StaticSite
from weft.bench.rounds import Entry
from weft.bench.trial import Trial

NOT_INSTALLED = "not installed"


class Row(NamedTuple):
    name: str
    label: str
    pages: int
    rounds: int
    #: Of a page, without start and end. This is also seconds for 1,000 pages.
    cpu_ms: float
    redis_cpu_ms: float
    #: Start and end.
    start_cpu_s: float
    start_redis_cpu_s: float
    pages_per_s: float
    #: What part of the pages a second that politeness allows; 0 where it does not matter.
    polite_share: float
    peak_bytes: int
    early_bytes: int
    late_bytes: int
    #: Requests beyond one for each page.
    extra_requests: int
    #: Why it has no figures; empty if it has.
    fault: str

    @property
    def has_figures(self) -> bool:
        return not self.fault


def make_row(entry: Entry, pace: Pace, *, has_means: bool = False) -> Row:
    fault = _fault(entry)
    site, trials, starts = entry.site, entry.trials, entry.starts
    average = mean if has_means else median

    def of(trials: Sequence[Trial], figure: Callable[[Trial], float]) -> float:
        return average(map(figure, trials)) if trials else 0.0

    def beyond_start(figure: Callable[[Trial], float]) -> float:
        return of(trials, figure) - of(starts, figure)

    crawl_s = of(trials, lambda trial: trial.crawl_s)
    return Row(
        name=entry.contestant.name,
        label=entry.contestant.label,
        pages=site.total,
        rounds=len(trials),
        cpu_ms=_per_page_ms(beyond_start(lambda trial: trial.paging_cpu_s), site),
        redis_cpu_ms=_per_page_ms(beyond_start(lambda trial: trial.redis_cpu_s), site),
        start_cpu_s=of(starts, lambda trial: trial.cpu_s),
        start_redis_cpu_s=of(starts, lambda trial: trial.redis_cpu_s),
        pages_per_s=site.total / crawl_s if crawl_s else 0.0,
        polite_share=polite_share(site, pace, crawl_s),
        peak_bytes=int(of(trials, lambda trial: trial.peak_bytes)),
        early_bytes=int(of(trials, lambda trial: trial.early_bytes)),
        late_bytes=int(of(trials, lambda trial: trial.late_bytes)),
        extra_requests=int(of(trials, lambda trial: trial.served - site.total)),
        fault=fault,
    )


def polite_share(site: StaticSite, pace: Pace, crawl_s: float) -> float:
    """The first page of a host waits for nothing, each other for one delay."""
    allowed_s = (site.pages - 1) * pace.delay_s
    return allowed_s / crawl_s if crawl_s else 0.0


def _fault(entry: Entry) -> str:
    if not entry.is_installed:
        return NOT_INSTALLED
    bad = [trial for trial in (*entry.starts, *entry.trials) if not trial.is_right]
    if not bad:
        return ""
    verdict = "" if bad[0].verdict.is_right else str(bad[0].verdict)
    return "; ".join(filter(None, (verdict, bad[0].problem)))


def _per_page_ms(cpu_s: float, site: StaticSite) -> float:
    """The page of the start is not counted twice."""
    return 1000 * cpu_s / max(1, site.total - 1)
