"""The measurements as one row per contestant: medians of its rounds, or means.

If many short crawls are compared with one that is as long as all of them, means are used: a long
crawl is itself a mean of good and bad moments. Of crawls of one page the lower quartile counts:
they are so short that other load on the machine makes some of them much dearer.
"""

from collections.abc import Callable, Sequence
from statistics import mean, median
from typing import NamedTuple

from bench.crawlers.field import Pace
from bench.crawlers.pages import StaticSite
from bench.crawlers.rounds import Entry
from bench.crawlers.trial import Trial

NOT_INSTALLED = "not installed"


class Row(NamedTuple):
    name: str
    label: str
    pages: int
    rounds: int
    #: Per page, without start and end, unless there is one page only. This is also seconds per
    #: 1,000 pages.
    cpu_ms: float
    redis_cpu_ms: float
    #: Start and end.
    start_cpu_s: float
    start_redis_cpu_s: float
    pages_per_s: float
    #: Share of the pages per second that the delays allow; 0 if there are none.
    polite_share: float
    peak_bytes: int
    early_bytes: int
    late_bytes: int
    #: Requests beyond one per page.
    extra_requests: int
    #: Why it has no figures; empty if it has some.
    fault: str

    @property
    def has_figures(self) -> bool:
        return not self.fault


def make_row(entry: Entry, pace: Pace, *, has_means: bool = False) -> Row:
    fault = _fault(entry)
    site, trials = entry.site, entry.trials
    is_start = site.total == 1
    starts = trials if is_start else entry.starts
    average = _lower_quartile if is_start else mean if has_means else median

    def of(trials: Sequence[Trial], figure: Callable[[Trial], float]) -> float:
        return average([*map(figure, trials)]) if trials else 0.0

    def beyond_start(figure: Callable[[Trial], float]) -> float:
        return of(trials, figure) - of(starts, figure)

    crawl_s = of(trials, lambda trial: trial.crawl_s)
    start_cpu_s = of(starts, lambda trial: trial.cpu_s)
    paging_cpu_s = start_cpu_s if is_start else beyond_start(lambda trial: trial.paging_cpu_s)
    return Row(
        name=entry.contestant.name,
        label=entry.contestant.label,
        pages=site.total,
        rounds=len(trials),
        cpu_ms=_per_page_ms(paging_cpu_s, site),
        redis_cpu_ms=_per_page_ms(beyond_start(lambda trial: trial.redis_cpu_s), site),
        start_cpu_s=start_cpu_s,
        start_redis_cpu_s=of(starts, lambda trial: trial.redis_cpu_s),
        pages_per_s=site.total / crawl_s if crawl_s else 0.0,
        polite_share=polite_share(site, pace, crawl_s),
        peak_bytes=int(of(trials, lambda trial: trial.peak_bytes)),
        early_bytes=int(of(trials, lambda trial: trial.early_bytes)),
        late_bytes=int(of(trials, lambda trial: trial.late_bytes)),
        extra_requests=int(of(trials, lambda trial: trial.served - site.total)),
        fault=fault,
    )


def _lower_quartile(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 4]


def polite_share(site: StaticSite, pace: Pace, crawl_s: float) -> float:
    """The first page of a host needs no wait, each other one delay."""
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
