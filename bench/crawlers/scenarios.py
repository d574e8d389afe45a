"""What is measured: sites, contestants, limits, rounds."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bench.crawlers.field import CONTESTANTS, Pace
from bench.crawlers.pages import StaticSite

PAGE_BYTES, LINKS = 30_000, 60
SMALL_BYTES, SMALL_LINKS = 2_000, 10
HOSTS, PAGES_OF_HOST = 500, 40
#: Seconds between two requests to one host.
DELAY_S = 0.5
#: With delays, waiting requests must not hold up others.
POLITE_PACE = Pace(concurrency=1_000, per_host=1, delay_s=DELAY_S)

#: What differs from others in its start only.
STARTERS = ("weft-workers-2", "weft-spider")
ALL = tuple(name for name in CONTESTANTS if name not in STARTERS)


class Scenario(NamedTuple):
    name: str
    sites: Sequence[StaticSite]
    pace: Pace = Pace()
    contestants: Sequence[str] = ALL
    rounds: int = 3

    @property
    def has_lengths(self) -> bool:
        """Whether a long crawl is compared with a short one of the same crawler."""
        return len(self.sites) > 1

    @property
    def is_start(self) -> bool:
        """Whether only start and end are measured, with a site of one page."""
        return all(site.total == 1 for site in self.sites)

    @property
    def about(self) -> str:
        """What is crawled, and how fast it may be."""
        sites = " beside ".join(site.about for site in self.sites)
        delay = f", {self.pace.delay_s:g} s between two" if self.pace.delay_s else ""
        limit = f"{self.pace.concurrency:,} requests at a time, {self.pace.per_host} to a host"
        return f"{sites}; {limit}{delay}"

    def with_pages(self, pages: int) -> "Scenario":
        """With this many pages in total; if there are two crawls, the longer one has them, and the
        shorter one at most half of them. A site of one page stays."""
        if self.is_start:
            return self
        *shorter, longest = self.sites
        half = max(1, pages // 2)
        return self._replace(
            sites=[
                *(site._replace(pages=min(site.pages, half)) for site in shorter),
                longest._replace(pages=-(-pages // longest.hosts)),
            ]
        )


SCENARIOS: Mapping[str, Scenario] = {
    each.name: each
    for each in (
        Scenario(
            "links",
            [StaticSite(20_000, PAGE_BYTES, LINKS)],
        ),
        Scenario(
            "articles",
            [StaticSite(2_000, 150_000, 130)],
        ),
        Scenario(
            "small",
            [StaticSite(200_000, SMALL_BYTES, SMALL_LINKS)],
            rounds=1,
        ),
        Scenario(
            "hosts",
            [StaticSite(PAGES_OF_HOST, PAGE_BYTES, LINKS, HOSTS)],
            pace=Pace(concurrency=128, per_host=8),
        ),
        Scenario(
            "polite",
            [StaticSite(PAGES_OF_HOST, SMALL_BYTES, SMALL_LINKS, HOSTS)],
            pace=POLITE_PACE,
            contestants=("weft", "weft-redis-2", "scrapy", "scrapy-redis-1", "scrapy-redis-2"),
        ),
        Scenario(
            "endurance",
            [
                StaticSite(2_000, SMALL_BYTES, SMALL_LINKS),
                StaticSite(200_000, SMALL_BYTES, SMALL_LINKS),
            ],
            contestants=("weft",),
            rounds=1,
        ),
        Scenario(
            "start",
            [StaticSite(1, PAGE_BYTES, LINKS)],
            contestants=("weft", *STARTERS, "addon", "scrapy"),
            rounds=15,
        ),
    )
}

#: For `--quick`: under three minutes on two cores.
QUICK: Sequence[Scenario] = (
    SCENARIOS["links"]._replace(
        sites=[StaticSite(400, PAGE_BYTES, LINKS)],
        rounds=1,
    ),
    SCENARIOS["polite"]._replace(
        sites=[StaticSite(9, SMALL_BYTES, SMALL_LINKS, 100)],
        contestants=("weft", "weft-redis-2", "scrapy"),
        rounds=1,
    ),
)
