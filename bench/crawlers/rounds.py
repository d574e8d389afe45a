"""Contestants take turns, round after round, so that other load on the machine affects all alike.

Each also crawls a site of a single page: that is the cost of start and end, which is reported
separately and subtracted from the cost of the crawl.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import NamedTuple

from bench.crawlers.cores import Split, apart, kept_to
from bench.crawlers.field import CONTESTANTS, Contestant, Pace
from bench.crawlers.nginx import Nginx
from bench.crawlers.pages import StaticSite
from bench.crawlers.scenarios import PAGE_BYTES, Scenario
from bench.crawlers.site import Kept, keep
from bench.crawlers.trial import Arena, Trial, run_trial

#: Maximum number of rounds that measure start and end.
START_ROUNDS = 3
#: Maximum number of short crawls during a long one in a round.
INTERLUDES = 40


class Step(NamedTuple):
    """The progress; `served`: how many of the pages were requested."""

    what: str
    served: int
    pages: int
    left_s: float


Tell = Callable[[Step], None]


class Place(NamedTuple):
    """A site with its server."""

    kept: Kept
    nginx: Nginx


class Entry:
    """A contestant on a site, with its measurements."""

    def __init__(self, contestant: Contestant, site: StaticSite) -> None:
        self.contestant = contestant
        self.site = site
        self.starts: list[Trial] = []
        self.trials: list[Trial] = []
        #: Whether it failed, and is not tried again.
        self.is_out = False

    @property
    def is_installed(self) -> bool:
        return bool(self.starts or self.trials)

    def start_s(self) -> float:
        """How long a crawl of one page takes, as far as known."""
        return self.starts[-1].wall_s if self.starts else self.contestant.usual_s

    def crawl_s(self) -> float:
        if self.trials:
            return self.trials[-1].wall_s
        page_ms = self.contestant.usual_ms * (0.2 + 0.8 * self.site.page_bytes / PAGE_BYTES)
        return self.contestant.usual_s + self.site.total * page_ms / 1000


class Turn(NamedTuple):
    entry: Entry
    number: int
    is_start: bool
    #: Turns that are taken in the middle of it.
    within: Sequence["Turn"] = ()

    @property
    def expected_s(self) -> float:
        if self.entry.is_out:
            return 0.0
        return self.entry.start_s() if self.is_start else self.entry.crawl_s()


class Race:
    """A scenario, from the first turn to the last."""

    def __init__(self, scenario: Scenario, arena: Arena, cache: Path, tell: Tell) -> None:
        self.scenario = scenario
        self.entries = [
            Entry(CONTESTANTS[name], site)
            for site in scenario.sites
            for name in scenario.contestants
        ]
        everywhere = Split(arena.cores, arena.cores)
        self._cores = apart() if scenario.has_lengths else everywhere
        self._arena = arena._replace(cores=self._cores.crawler)
        self._cache = cache
        self._tell = tell
        self._left: list[Turn] = []

    @property
    def expected_s(self) -> float:
        """Approximate duration."""
        floor_s = max(_polite_s(site, self.scenario.pace) for site in self.scenario.sites)
        turns = _flat(self.turns())
        return sum(max(turn.expected_s, floor_s * (not turn.is_start)) for turn in turns)

    def run(self) -> Sequence[Entry]:
        for entry in self.entries:
            entry.is_out = not entry.contestant.is_installed(self._arena.peers)
        with ExitStack() as stack:
            stack.enter_context(kept_to(self._cores.server))
            places = {site: self._open(site, stack) for site in self._sites()}
            self._left = list(_flat(self.turns()))
            for turn in self.turns():
                self._take(turn, places)
        return self.entries

    def turns(self) -> Iterator[Turn]:
        """Short crawls run in the middle of a long one, which is suspended meanwhile: the speed of
        a shared machine changes over minutes."""
        longest = max(self.scenario.sites, key=lambda site: site.total)
        for number in range(1, self.scenario.rounds + 1):
            for entry in self.entries:
                if entry.site is longest:
                    yield from self._turns_of(entry, number, list(self._interludes(entry, number)))

    def _turns_of(self, entry: Entry, number: int, within: Sequence[Turn] = ()) -> Iterator[Turn]:
        if number <= START_ROUNDS and not self.scenario.is_start:
            yield Turn(entry, number, is_start=True)
        yield Turn(entry, number, is_start=False, within=within)

    def _interludes(self, long: Entry, number: int) -> Iterator[Turn]:
        for entry in self.entries:
            if entry.contestant is long.contestant and entry is not long:
                for _ in range(min(INTERLUDES, long.site.total // entry.site.total)):
                    yield from self._turns_of(entry, number)

    def _sites(self) -> Iterator[StaticSite]:
        for site in self.scenario.sites:
            yield site
            if not self.scenario.is_start:
                yield _single(site)

    def _open(self, site: StaticSite, stack: ExitStack) -> Place:
        kept = keep(site, self._cache, lambda text: self._tell(Step(text, 0, 0, 0.0)))
        return Place(kept, stack.enter_context(Nginx(kept.root, kept.port)))

    def _take(self, turn: Turn, places: dict[StaticSite, Place]) -> None:
        entry = turn.entry
        if not entry.is_out:
            trial = self._try(turn, places)
            (entry.starts if turn.is_start else entry.trials).append(trial)
            entry.is_out = not trial.is_right
        self._left.remove(turn)

    def _try(self, turn: Turn, places: dict[StaticSite, Place]) -> Trial:
        entry = turn.entry
        site = _single(entry.site) if turn.is_start else entry.site
        what = self._describe(turn)

        def watch(served: int) -> None:
            left_s = sum(each.expected_s for each in self._left)
            self._tell(Step(what, served, site.total, left_s))

        watch(0)
        interludes = [partial(self._take, each, places) for each in turn.within]
        return run_trial(
            *(entry.contestant, *places[site], self.scenario.pace, self._arena, watch, interludes)
        )

    def _describe(self, turn: Turn) -> str:
        part = ", start and end" if turn.is_start else ""
        where = f"{self.scenario.name}, round {turn.number} of {self.scenario.rounds}"
        return f"{where}: {turn.entry.contestant.label}{part}"


def _flat(turns: Iterable[Turn]) -> Iterator[Turn]:
    for turn in turns:
        yield turn
        yield from _flat(turn.within)


def _single(site: StaticSite) -> StaticSite:
    return site._replace(pages=1, hosts=1)


def _polite_s(site: StaticSite, pace: Pace) -> float:
    """The minimum time with the delay: the first page of a host needs no wait."""
    return (site.pages - 1) * pace.delay_s
